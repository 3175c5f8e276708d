package fatoura

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const delivery = `{"id":"evt_1","object":"event","type":"invoice.accepted","created":1764000000,"data":{"id":"inv_1"}}`

func signed(body, secret string, at time.Time) http.Header {
	code := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(code, "%d.%s", at.Unix(), body)
	return http.Header{"Service-Signature": {fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(code.Sum(nil)))}}
}

func TestADeliveryOfNowIsVerified(t *testing.T) {
	header := signed(delivery, "whsec_a", time.Now())
	// Of a rotation, one variable of the environment is unset.
	event, err := VerifyWebhook([]byte(delivery), header, "", "whsec_b", "whsec_a")
	if err != nil || event.ID != "evt_1" || event.Type != EventTypeInvoiceAccepted || event.Data.ID != "inv_1" {
		t.Errorf("got %+v, %v", event, err)
	}
}

func TestTheToleranceOfTimeIsFiveMinutesOrTheCallers(t *testing.T) {
	now := time.Unix(1764000000, 0)
	clock := func() time.Time { return now }
	for _, each := range []struct {
		tolerance, age time.Duration
		isRight        bool
	}{
		{0, 5 * time.Minute, true}, {0, 5*time.Minute + time.Second, false}, {0, -6 * time.Minute, false},
		{time.Hour, 59 * time.Minute, true}, {time.Second, 2 * time.Second, false},
	} {
		header := signed(delivery, "whsec_a", now.Add(-each.age))
		_, err := Verifier{each.tolerance, clock}.Verify([]byte(delivery), header, "whsec_a")
		if (err == nil) != each.isRight {
			t.Errorf("%+v: %v", each, err)
		}
	}
}

func TestANegativeToleranceIsNamed(t *testing.T) {
	header := signed(delivery, "whsec_a", time.Now())
	_, err := Verifier{Tolerance: -time.Second}.Verify([]byte(delivery), header, "whsec_a")
	if !errors.Is(err, ErrSignature) || !strings.Contains(err.Error(), "tolerance") {
		t.Errorf("got %v", err)
	}
}

func TestWhatIsWrongWithADeliveryIsNamed(t *testing.T) {
	right := signed(delivery, "whsec_a", time.Now())
	for _, each := range []struct {
		body    string
		header  http.Header
		secrets []string
		part    string
	}{
		{"", right, []string{"whsec_a"}, "read or parsed before"},
		{strings.ReplaceAll(delivery, ",", ", "), right, []string{"whsec_a"}, "parsed and printed again"},
		{delivery, http.Header{}, []string{"whsec_a"}, "Service-Signature is missing"},
		{delivery, http.Header{"Service-Signature": {"v1=00"}}, []string{"whsec_a"}, "has no time"},
		{delivery, right, nil, "whsec_"},
		{delivery, right, []string{""}, "whsec_"},
		{delivery, right, []string{"whsec_a", "sk_test_1"}, "whsec_"},
		{"no JSON", signed("no JSON", "whsec_a", time.Now()), []string{"whsec_a"}, "no event"},
	} {
		_, err := VerifyWebhook([]byte(each.body), each.header, each.secrets...)
		if !errors.Is(err, ErrSignature) || !strings.Contains(err.Error(), each.part) {
			t.Errorf("got %v; want %q", err, each.part)
		}
		if err != nil && strings.Contains(err.Error(), "sk_test") {
			t.Errorf("%v shows a secret", err)
		}
	}
}
