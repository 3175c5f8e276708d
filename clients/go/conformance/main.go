// Runs the calls of the conformance suite (clients/conformance/README.md).
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"os"
	"sync"
	"time"

	"fatoura.example/fatoura"
	"fatoura.example/fatoura/internal/streams"
)

type call struct {
	Call    string
	Args    []json.RawMessage
	Options struct {
		AttemptTimeoutMs int
		TimeoutMs        int
		MaxRetries       *int
		SilenceMs        int
		BaseURL          string
		Key              string
	}
}

// options are those of a call, which the suite passes as its last argument.
type options struct {
	Include        []fatoura.Include
	OrderNumber    *string
	IdempotencyKey *string
	TimeoutMs      int
	Reason         fatoura.CreditReason
	Note           string
	Now            int64
	ToleranceMs    int
}

func main() {
	input, output := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var each call
		if input.Decode(&each) != nil {
			return
		}
		fatoura.Must(0, output.Encode(run(each)))
	}
}

func run(each call) any {
	if each.Call == "many" {
		return map[string]any{"ok": runAll(argument[[]call](each.Args, 0))}
	}
	client, err := clientOf(each)
	if err != nil {
		return map[string]any{"error": map[string]any{"class": "ArgumentError", "message": err.Error()}}
	}
	if each.Options.SilenceMs > 0 {
		defer func(usual time.Duration) { streams.LongestSilence = usual }(streams.LongestSilence)
		streams.LongestSilence = milliseconds(each.Options.SilenceMs)
	}
	result, err := calls[each.Call](client, each.Args)
	if err != nil {
		return map[string]any{"error": shown(err)}
	}
	return map[string]any{"ok": result}
}

func runAll(all []call) []any {
	results := make([]any, len(all))
	var running sync.WaitGroup
	for nth, each := range all {
		running.Add(1)
		go func() {
			defer running.Done()
			results[nth] = run(each)
		}()
	}
	running.Wait()
	return results
}

func clientOf(each call) (*fatoura.Client, error) {
	of := fatoura.Options{
		BaseURL:        each.Options.BaseURL,
		AttemptTimeout: milliseconds(each.Options.AttemptTimeoutMs),
		Timeout:        milliseconds(each.Options.TimeoutMs),
	}
	if retries := each.Options.MaxRetries; retries != nil {
		of.MaxRetries = *retries
		if *retries == 0 {
			of.MaxRetries = fatoura.NoRetries
		}
	}
	key := each.Options.Key
	if key == "" {
		key = os.Getenv("FATOURA_KEY")
	}
	return fatoura.New(key, of)
}

var calls = map[string]func(*fatoura.Client, []json.RawMessage) (any, error){
	"invoices.create": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		invoice := argument[fatoura.CreateInvoice](args, 0)
		further := fatoura.Further(unknownMembers(args[0], invoice))
		return client.Invoices.Create(context.Background(), invoice, append(keyed(args, 1), further)...)
	},
	"invoices.get": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		return client.Invoices.Get(context.Background(), argument[string](args, 0), argument[options](args, 1).Include...)
	},
	"invoices.list": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		of := argument[struct {
			Status        fatoura.InvoiceStatus
			CustomerICE   string `json:"customer_ice"`
			StartingAfter string `json:"starting_after"`
			EndingBefore  string `json:"ending_before"`
			Limit         int
		}](args, 0)
		return collected(client.Invoices.List(context.Background(), fatoura.ListOptions{
			Status:        of.Status,
			CustomerICE:   of.CustomerICE,
			StartingAfter: of.StartingAfter,
			EndingBefore:  of.EndingBefore,
			Limit:         of.Limit,
		}))
	},
	"invoices.findByNumber": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		return client.Invoices.FindByNumber(context.Background(), argument[string](args, 0))
	},
	"invoices.follow": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		ctx, cancel := limited(args)
		defer cancel()
		return collected(client.Invoices.Follow(ctx, argument[string](args, 0)))
	},
	"invoices.settled": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		ctx, cancel := limited(args)
		defer cancel()
		return client.Invoices.Settled(ctx, argument[string](args, 0), argument[options](args, 1).Include...)
	},
	"invoices.credit": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		id, input := argument[string](args, 0), argument[fatoura.CreditInput](args, 1)
		return client.Invoices.Credit(context.Background(), id, input, keyed(args, 2)...)
	},
	"invoices.replace": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		id, input, of := argument[string](args, 0), argument[map[string]any](args, 1), argument[options](args, 2)
		return client.Invoices.Replace(context.Background(), id, input, of.Reason, of.Note, keyed(args, 2)...)
	},
	"drafts.create": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		return client.Drafts.Create(context.Background(), argument[fatoura.DraftContent](args, 0))
	},
	"drafts.get": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		return client.Drafts.Get(context.Background(), argument[string](args, 0))
	},
	"drafts.update": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		content := argument[fatoura.DraftContent](args, 1)
		return client.Drafts.Update(context.Background(), argument[*fatoura.Draft](args, 0), content)
	},
	"drafts.issue": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		return client.Drafts.Issue(context.Background(), argument[*fatoura.Draft](args, 0))
	},
	"drafts.delete": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		return nil, client.Drafts.Delete(context.Background(), argument[*fatoura.Draft](args, 0))
	},
	"webhookEndpoints.create": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		return client.WebhookEndpoints.Create(context.Background(), argument[fatoura.CreateWebhookEndpoint](args, 0))
	},
	"webhookEndpoints.list": func(client *fatoura.Client, _ []json.RawMessage) (any, error) {
		return client.WebhookEndpoints.List(context.Background())
	},
	"webhookEndpoints.update": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		change := argument[fatoura.UpdateWebhookEndpoint](args, 1)
		return client.WebhookEndpoints.Update(context.Background(), argument[string](args, 0), change)
	},
	"webhookEndpoints.delete": func(client *fatoura.Client, args []json.RawMessage) (any, error) {
		return client.WebhookEndpoints.Delete(context.Background(), argument[string](args, 0))
	},
	"webhooks.verify": func(_ *fatoura.Client, args []json.RawMessage) (any, error) {
		header := http.Header{}
		for name, value := range argument[map[string]string](args, 1) {
			header[name] = []string{value}
		}
		of := argument[options](args, 3)
		now := func() time.Time { return time.UnixMilli(of.Now) }
		verifier := fatoura.Verifier{Now: now, Tolerance: milliseconds(of.ToleranceMs)}
		return verifier.Verify(bodyOf(args[0]), header, textsOf(args[2])...)
	},
	"amounts.centimes": func(_ *fatoura.Client, args []json.RawMessage) (any, error) {
		return fatoura.Centimes(argument[string](args, 0))
	},
	"amounts.dirhams": func(_ *fatoura.Client, args []json.RawMessage) (any, error) {
		return fatoura.Dirhams(argument[int64](args, 0)), nil
	},
	"amounts.totals": func(_ *fatoura.Client, args []json.RawMessage) (any, error) {
		return fatoura.TotalsOf(argument[[]fatoura.LineInput](args, 0))
	},
}

// argument reads an argument. What is missing is a zero value.
func argument[Value any](args []json.RawMessage, nth int) Value {
	var value Value
	if nth < len(args) {
		fatoura.Must(0, json.Unmarshal(args[nth], &value))
	}
	return value
}

func limited(args []json.RawMessage) (context.Context, context.CancelFunc) {
	if limit := argument[options](args, 1).TimeoutMs; limit > 0 {
		return context.WithTimeout(context.Background(), milliseconds(limit))
	}
	return context.WithCancel(context.Background())
}

func keyed(args []json.RawMessage, nth int) []fatoura.Option {
	of := argument[options](args, nth)
	found := []fatoura.Option{fatoura.Including(of.Include...)}
	// Where both are stated, the key is not the last one.
	if of.IdempotencyKey != nil {
		found = append(found, fatoura.IdempotencyKey(*of.IdempotencyKey))
	}
	if of.OrderNumber != nil {
		found = append(found, fatoura.OrderNumber(*of.OrderNumber))
	}
	return found
}

// unknownMembers are those of a text that its type does not have.
func unknownMembers(text json.RawMessage, value any) map[string]any {
	var unknown, known map[string]any
	fatoura.Must(0, json.Unmarshal(text, &unknown))
	fatoura.Must(0, json.Unmarshal(fatoura.Must(json.Marshal(value)), &known))
	for name := range known {
		delete(unknown, name)
	}
	return unknown
}

// bodyOf is the text that an argument is; of an object what a program prints that has parsed it.
func bodyOf(argument json.RawMessage) []byte {
	var value any
	fatoura.Must(0, json.Unmarshal(argument, &value))
	if text, ok := value.(string); ok {
		return []byte(text)
	}
	return fatoura.Must(json.Marshal(value))
}

func textsOf(argument json.RawMessage) []string {
	if bytes.HasPrefix(argument, []byte("[")) {
		var texts []string
		fatoura.Must(0, json.Unmarshal(argument, &texts))
		return texts
	}
	var text string
	fatoura.Must(0, json.Unmarshal(argument, &text))
	return []string{text}
}

func collected[Item any](items iter.Seq2[Item, error]) ([]Item, error) {
	all := []Item{}
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, nil
}

func milliseconds(count int) time.Duration {
	return time.Duration(count) * time.Millisecond
}

func shown(err error) map[string]any {
	of := new(fatoura.Error)
	if !errors.As(err, &of) {
		return map[string]any{"class": "ArgumentError", "message": err.Error()}
	}
	found := map[string]any{"class": of.Family, "message": of.Message, "idempotencyKey": orNull(of.IdempotencyKey)}
	if of.Status > 0 {
		found["code"], found["param"], found["status"] = orNull(of.Code), orNull(of.Param), of.Status
		found["hasRequestId"] = of.RequestID != ""
	} else if of.Family == fatoura.ErrInvalidRequest {
		found["class"] = "ArgumentError"
	}
	return found
}

func orNull[Text ~string](text Text) any {
	if text == "" {
		return nil
	}
	return text
}
