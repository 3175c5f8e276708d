package fatoura

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const invoicesPath = "/v1/invoices"

// Include is a member that answers have only if it is asked for.
type Include string

// Values of Include.
const (
	IncludeNumber   Include = "number"
	IncludeTotals   Include = "totals"
	IncludeTerms    Include = "terms"
	IncludeWarnings Include = "warnings"
	IncludeCredits  Include = "credits"
	IncludeCustomer Include = "customer"
	IncludeLines    Include = "lines"
)

// Creation is a created invoice, and whether an earlier request with the same key had created it.
type Creation struct {
	CreatedInvoice
	Replayed bool `json:"replayed"`
}

// ListOptions of invoices. Each zero value is a default.
type ListOptions struct {
	Status        InvoiceStatus
	CustomerICE   string
	CreatedAfter  time.Time
	CreatedBefore time.Time
	// The id after which the list begins, or before which, back to the newest.
	StartingAfter string
	EndingBefore  string
	// Invoices of a page, 1 to 100. Default 100.
	Limit   int
	Include []Include
}

// Invoices are created, read, followed and corrected.
type Invoices struct {
	sender *sender
}

// Create creates an invoice. It is pending in the answer; Follow waits for the authority. Repeated attempts of a call
// have one key, so a lost answer never makes a second invoice.
func (i *Invoices) Create(ctx context.Context, invoice CreateInvoice, options ...Option) (*Creation, error) {
	of, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	body, err := withFurther(invoice, of.further)
	if err != nil {
		return nil, &Error{Family: ErrInvalidRequest, Message: "a further member is not JSON", Cause: err}
	}
	creation, header, err := send[Creation](ctx, i.sender, call{
		method:       "POST",
		path:         invoicesPath,
		query:        including(of.include),
		body:         body,
		header:       http.Header{"Idempotency-Key": {of.key}},
		isRepeatable: true,
	})
	if err != nil {
		return nil, stating(of.key, err)
	}
	creation.Replayed = header.Get("Idempotent-Replayed") == "true"
	return creation, nil
}

// Get reads an invoice.
func (i *Invoices) Get(ctx context.Context, id string, include ...Include) (*Invoice, error) {
	path := invoicesPath + "/" + url.PathEscape(id)
	return read[Invoice](ctx, i.sender, path, including(include))
}

// List lists invoices, newest first; with EndingBefore back to the newest. It reads a page when it gets there, and
// anew each time that it is ranged over. An error is the last thing that it yields.
func (i *Invoices) List(ctx context.Context, options ListOptions) iter.Seq2[*Invoice, error] {
	return items(options, func(page ListOptions) (*InvoiceList, error) { return i.Page(ctx, page) })
}

// Page reads one page of a list.
func (i *Invoices) Page(ctx context.Context, options ListOptions) (*InvoiceList, error) {
	query := including(options.Include)
	if options.Limit == 0 {
		options.Limit = 100
	}
	stated := map[string]string{
		"status":         string(options.Status),
		"customer_ice":   options.CustomerICE,
		"created_after":  instant(options.CreatedAfter),
		"created_before": instant(options.CreatedBefore),
		"starting_after": options.StartingAfter,
		"ending_before":  options.EndingBefore,
		"limit":          strconv.Itoa(options.Limit),
	}
	for name, value := range stated {
		if value != "" {
			query.Set(name, value)
		}
	}
	return read[InvoiceList](ctx, i.sender, invoicesPath, query)
}

// FindByNumber finds the invoice with a legal number; nil if there is none.
func (i *Invoices) FindByNumber(ctx context.Context, number string, include ...Include) (*Invoice, error) {
	query := including(include)
	query.Set("number", number)
	list, err := read[InvoiceList](ctx, i.sender, invoicesPath, query)
	if err != nil || len(list.Data) == 0 {
		return nil, err
	}
	return &list.Data[0], nil
}

// Follow yields the status of an invoice, and each change once and in order, until it is accepted or rejected.
// Connections that break are resumed; where none carries a stream, the invoice is read every two seconds. Retry-After is
// obeyed, up to a minute. An error is the last thing that it yields.
func (i *Invoices) Follow(ctx context.Context, id string) iter.Seq2[*StatusMessage, error] {
	return func(yield func(*StatusMessage, error) bool) {
		following := following{sender: i.sender, id: id, yield: yield}
		if err := following.run(ctx); err != nil {
			yield(nil, err)
		}
	}
}

// Settled waits until an invoice is accepted or rejected, and reads it: for as long as that takes, where the authority
// does not answer for hours, unless the context has a deadline.
func (i *Invoices) Settled(ctx context.Context, id string, include ...Include) (*Invoice, error) {
	for _, err := range i.Follow(ctx, id) {
		if err != nil {
			return nil, err
		}
	}
	return i.Get(ctx, id, include...)
}

func read[Result any](ctx context.Context, sender *sender, path string, query url.Values) (*Result, error) {
	result, _, err := send[Result](ctx, sender, call{method: "GET", path: path, query: query, isRepeatable: true})
	return result, err
}

func including(members []Include) url.Values {
	query := url.Values{}
	if len(members) > 0 {
		names := make([]string, len(members))
		for nth, member := range members {
			names[nth] = string(member)
		}
		query.Set("include", strings.Join(names, ","))
	}
	return query
}

func instant(time time.Time) string {
	if time.IsZero() {
		return ""
	}
	return time.UTC().Format("2006-01-02T15:04:05.999Z07:00")
}

// withFurther adds members to a request.
func withFurther(invoice CreateInvoice, further map[string]any) (any, error) {
	if len(further) == 0 {
		return invoice, nil
	}
	members := map[string]json.RawMessage{}
	text, err := json.Marshal(invoice)
	if err == nil {
		err = json.Unmarshal(text, &members)
	}
	for name, value := range further {
		if err == nil {
			members[name], err = json.Marshal(value)
		}
	}
	return members, err
}
