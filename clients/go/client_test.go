package fatoura

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func clientOf(t *testing.T, handler http.HandlerFunc, options Options) *Client {
	service := httptest.NewServer(handler)
	t.Cleanup(service.Close)
	options.BaseURL = service.URL + "/"
	return Must(New("sk_test_hidden", options))
}

func TestNoPrintOfAClientOrAnAnswerHasASecret(t *testing.T) {
	client := Must(New("sk_test_hidden", Options{BaseURL: "http://localhost"}))
	answer := CreatedInvoice{ClientSecret: "inv_1_secret_hidden"}
	shown := fmt.Sprintf("%v %+v %#v %+v", client, client.Invoices, *client.Invoices.sender, answer)
	if shown += fmt.Sprintf("%#v", answer); strings.Contains(shown, "hidden") {
		t.Error(shown)
	}
	if text := Must(json.Marshal(answer)); !strings.Contains(string(text), "inv_1_secret_hidden") {
		t.Errorf("%s lacks the secret, which a page of the caller may need", text)
	}
}

func TestAKeyMayEndWithALineBreakAndOneWithOtherCharactersIsRefused(t *testing.T) {
	Must(New("sk_test_hidden\n", Options{BaseURL: "http://localhost"}))
	for _, wrong := range []string{"sk_test_hidden\r\nX-Other: 1", "sk_test_hidden x", "sk_test_hiddené"} {
		if _, err := New(wrong, Options{BaseURL: "http://localhost"}); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Error(err)
		}
	}
}

func TestACancelledCallEndsAtOnceAsErrCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	client := clientOf(t, func(_ http.ResponseWriter, request *http.Request) {
		cancel()
		<-request.Context().Done()
	}, Options{})
	_, err := client.Invoices.Get(ctx, "inv_1")
	if !errors.Is(err, ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestADeadlineIsAnErrConnectionAlsoDuringAPause(t *testing.T) {
	client := clientOf(t, func(answer http.ResponseWriter, _ *http.Request) { answer.WriteHeader(503) }, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), 600*time.Millisecond)
	defer cancel()
	begun := time.Now()
	for _, err := range client.Invoices.Follow(ctx, "inv_1") {
		if !errors.Is(err, ErrConnection) || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrService) {
			t.Errorf("got %v", err)
		}
	}
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestARedirectionIsRefusedAndTheKeyStays(t *testing.T) {
	client := clientOf(t, func(answer http.ResponseWriter, request *http.Request) {
		if request.URL.Path != "/v1/invoices/inv_1" {
			t.Errorf("%s was asked for", request.URL)
		}
		http.Redirect(answer, request, "/elsewhere", http.StatusFound)
	}, Options{})
	_, err := client.Invoices.Get(context.Background(), "inv_1")
	if of := new(Error); !errors.As(err, &of) || of.Status != http.StatusFound {
		t.Errorf("got %v", err)
	}
}

func TestEachAttemptIsToldWithoutItsQuery(t *testing.T) {
	var told []Attempt
	client := clientOf(t, func(answer http.ResponseWriter, _ *http.Request) {
		answer.Header().Set("Request-Id", "req_1")
		if len(told) == 0 {
			answer.WriteHeader(502)
		}
		fmt.Fprint(answer, `{"object":"list","data":[]}`)
	}, Options{OnAttempt: func(attempt Attempt) { told = append(told, attempt) }})
	if _, err := client.Invoices.FindByNumber(context.Background(), "FA-1"); err != nil {
		t.Fatal(err)
	}
	for nth, status := range []int{502, 200} {
		got := told[nth]
		got.Duration = 0
		if want := (Attempt{"GET", "/v1/invoices", nth + 1, status, "req_1", 0}); got != want {
			t.Errorf("got %+v; want %+v", got, want)
		}
	}
}

func TestChangesStateOnlyWhatTheyChange(t *testing.T) {
	for want, change := range map[string]UpdateWebhookEndpoint{
		`{}`:                                    {},
		`{"description":null,"active":false}`:   {Description: Null[string](), Active: Ptr(false)},
		`{"url":"https://a","description":"b"}`: {URL: "https://a", Description: Set("b")},
	} {
		if got := string(Must(json.Marshal(change))); got != want {
			t.Errorf("got %s; want %s", got, want)
		}
	}
}

func TestMembersThatTheClientDoesNotKnowAreSent(t *testing.T) {
	var sent map[string]any
	client := clientOf(t, func(answer http.ResponseWriter, request *http.Request) {
		Must(0, json.NewDecoder(request.Body).Decode(&sent))
		fmt.Fprint(answer, `{"object":"invoice"}`)
	}, Options{})
	further := Further(map[string]any{"later": []int{1}})
	Must(client.Invoices.Create(context.Background(), CreateInvoice{Amount: 1<<53 - 1}, further))
	if fmt.Sprint(sent["later"]) != "[1]" || sent["amount"] != float64(1<<53-1) {
		t.Errorf("sent %v", sent)
	}
}

func TestABlankKeyOrOrderNumberIsRefusedBeforeAnythingIsSent(t *testing.T) {
	client := clientOf(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") }, Options{})
	ctx, seen := context.Background(), OrderNumber("77")
	for _, text := range []string{"", "  ", "\t\u00a0\u200f"} {
		for _, option := range []Option{OrderNumber(text), IdempotencyKey(text)} {
			// A later option does not heal it.
			_, created := client.Invoices.Create(ctx, CreateInvoice{}, option, seen)
			_, credited := client.Invoices.Credit(ctx, "inv_1", CreditInput{}, option)
			_, replaced := client.Invoices.Replace(ctx, "inv_1", nil, CreditReasonError, "", option)
			for _, err := range []error{created, credited, replaced} {
				if !errors.Is(err, ErrInvalidRequest) || !strings.Contains(err.Error(), "leave the option out") {
					t.Errorf("%q: got %v", text, err)
				}
			}
		}
	}
}

func TestTheKeyIsTakenWhereBothAreStatedInEitherOrder(t *testing.T) {
	number, key := OrderNumber("77"), IdempotencyKey("order 77 again")
	for _, options := range [][]Option{{number, key}, {key, number}} {
		if of := Must(settingsOf(options)); of.key != "order 77 again" {
			t.Errorf("got %q", of.key)
		}
		if _, err := correctionOf(options); !errors.Is(err, ErrInvalidRequest) {
			t.Errorf("a correction took the number of an order: %v", err)
		}
	}
}

func TestEachByteOfAnOrderNumberIsKept(t *testing.T) {
	for number, want := range map[string]string{"7\xe9": "order 7%E9", "😀": "order %F0%9F%98%80"} {
		if of := Must(settingsOf([]Option{OrderNumber(number)})); of.key != want {
			t.Errorf("got %q; want %q", of.key, want)
		}
	}
}

func TestStreamsAreReadWithEachEndOfLine(t *testing.T) {
	text := "id: 1\rdata: a\r\r: alive\n\nid:2\r\ndata: b\r\ndata:c\r\n\r\ndata: cut"
	got := ""
	// Each read of a reader of single bytes may end between CR and LF.
	for event, err := range events(io.MultiReader(readers(text)...)) {
		if err != nil {
			t.Fatal(err)
		}
		if event == nil {
			got += "alive "
		} else {
			got += fmt.Sprintf("%s=%q ", event.id, event.data)
		}
	}
	if want := `1="a" alive 2="b\nc" `; got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

func readers(text string) []io.Reader {
	var parts []io.Reader
	for _, char := range text {
		parts = append(parts, strings.NewReader(string(char)))
	}
	return parts
}
