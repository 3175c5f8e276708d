package fatoura

import "context"

// CreditReason is why an accepted invoice is credited.
type CreditReason string

// Values of CreditReason.
const (
	CreditReasonError        CreditReason = "error"
	CreditReasonReturn       CreditReason = "return"
	CreditReasonCancellation CreditReason = "cancellation"
	CreditReasonDiscount     CreditReason = "discount"
	CreditReasonOther        CreditReason = "other"
)

// CreditInput is what is credited: all that is left, or lines, or amounts by rate of VAT.
type CreditInput struct {
	Reason   CreditReason      `json:"reason"`
	Note     string            `json:"note,omitempty"`
	Lines    []CreditLine      `json:"lines,omitempty"`
	Amounts  []CreditAmount    `json:"amounts,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// CreditLine is how many of a line, counted from 1, are credited: with up to three decimal places.
type CreditLine struct {
	Line     int     `json:"line"`
	Quantity float64 `json:"quantity"`
}

// CreditAmount is how much is credited at a rate of VAT, without it, in centimes.
type CreditAmount struct {
	TaxRate     TaxRate `json:"taxRate"`
	Net         int64   `json:"net"`
	Description string  `json:"description,omitempty"`
}

// Document is an invoice or a credit note (prefix crn_) as it was created. The amount is positive, in centimes.
type Document struct {
	ID     string        `json:"id"`
	Status InvoiceStatus `json:"status"`
	Amount int64         `json:"amount"`
}

// Credit is a created credit note, and whether an earlier request with the same key had created it.
type Credit struct {
	CreditNote Document `json:"creditNote"`
	Replayed   bool     `json:"replayed"`
}

// Replacement is an invoice in place of another. CreditNote is nil if there was nothing to credit.
type Replacement struct {
	Invoice    Document  `json:"invoice"`
	CreditNote *Document `json:"creditNote"`
	Replayed   bool      `json:"replayed"`
}

const creditOperation = `mutation ($id: ID!, $input: CreditInvoiceInput!, $key: String) {
  creditInvoice(invoiceId: $id, input: $input, idempotencyKey: $key) {
    ... on CreditInvoicePayload { replayed creditNote { id status amount } }
    ... on Error { code message param status }
  }
}`

const replaceOperation = `mutation (
  $id: ID!, $input: CreateInvoiceInput!, $reason: CreditReason!, $note: String, $key: String
) {
  replaceInvoice(invoiceId: $id, input: $input, reason: $reason, note: $note, idempotencyKey: $key) {
    ... on ReplaceInvoicePayload { replayed invoice { id status amount } creditNote { id status amount } }
    ... on Error { code message param status }
  }
}`

// Credit credits an accepted invoice; the credit note passes through the same states as an invoice.
func (i *Invoices) Credit(ctx context.Context, id string, input CreditInput, options ...Option) (*Credit, error) {
	of, err := correctionOf(options)
	if err != nil {
		return nil, err
	}
	variables := map[string]any{"id": id, "input": input, "key": of.key}
	credit, err := run[Credit](ctx, i.sender, "creditInvoice", operation{creditOperation, variables}, true)
	return credit, stating(of.key, err)
}

// Replace replaces an invoice by a corrected one. What is left of an accepted one is credited first. The input is as of
// GraphQL's createInvoice, with its names: unitPrice, taxRate. The note may be empty.
func (i *Invoices) Replace(
	ctx context.Context, id string, input map[string]any, reason CreditReason, note string, options ...Option,
) (*Replacement, error) {
	of, err := correctionOf(options)
	if err != nil {
		return nil, err
	}
	variables := map[string]any{"id": id, "input": input, "reason": reason, "key": of.key}
	if note != "" {
		variables["note"] = note
	}
	replacement, err := run[Replacement](ctx, i.sender, "replaceInvoice", operation{replaceOperation, variables}, true)
	return replacement, stating(of.key, err)
}
