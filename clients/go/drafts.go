package fatoura

import "context"

// DraftContent is what is typed of an invoice: members of GraphQL's InvoiceDraft, any of them.
type DraftContent map[string]any

// Draft is an invoice that is not issued yet. Whoever changes it names the version that was read.
type Draft struct {
	// Prefix drf_.
	ID      string       `json:"id"`
	Version int          `json:"version"`
	Content DraftContent `json:"content"`
	// What keeps it from being issued now.
	Validation struct {
		Problems []DraftProblem `json:"problems"`
	} `json:"validation"`
}

// DraftProblem is what keeps a draft from being issued. Param may be nil.
type DraftProblem struct {
	Code    ErrorCode `json:"code"`
	Message string    `json:"message"`
	Param   *string   `json:"param"`
}

// Issued is the invoice that a draft has become, and whether it had been issued before.
type Issued struct {
	Invoice  Document `json:"invoice"`
	Replayed bool     `json:"replayed"`
}

const (
	draftFields = `id version content validation { problems { code message param } }`
	errorFields = `... on Error { code message param status }`

	createDraft = `mutation ($content: DraftContent!) {
  createDraft(content: $content) { ... on CreateDraftPayload { draft { ` + draftFields + ` } } ` + errorFields + ` }
}`
	readDraft   = `query ($id: ID!) { draft(id: $id) { ` + draftFields + ` } }`
	updateDraft = `mutation ($id: ID!, $version: Int!, $content: DraftContent!) {
  updateDraft(id: $id, version: $version, content: $content) {
    ... on UpdateDraftPayload { draft { ` + draftFields + ` } }
    ` + errorFields + `
  }
}`
	issueDraft = `mutation ($id: ID!, $version: Int!) {
  issueDraft(id: $id, version: $version) {
    ... on IssueDraftPayload { replayed invoice { id status amount } }
    ` + errorFields + `
  }
}`
	deleteDraft = `mutation ($id: ID!, $version: Int!) {
  deleteDraft(id: $id, version: $version) { ... on DeleteDraftPayload { id } ` + errorFields + ` }
}`
)

// draftAnswer is the payload of a mutation.
type draftAnswer struct{ Draft Draft }

// Drafts of invoices: checked by the same rules as a creation, without a number until they are issued.
type Drafts struct {
	sender *sender
}

// Create creates a draft. The call is repeated only after a 429, because otherwise it could make a second one.
func (d *Drafts) Create(ctx context.Context, content DraftContent) (*Draft, error) {
	operation := operation{createDraft, map[string]any{"content": content}}
	return draftOf(run[draftAnswer](ctx, d.sender, "createDraft", operation, false))
}

// Get reads a draft.
func (d *Drafts) Get(ctx context.Context, id string) (*Draft, error) {
	return run[Draft](ctx, d.sender, "draft", operation{readDraft, map[string]any{"id": id}}, true)
}

// Update changes a draft. It is an ErrConflict (draft_changed) if the draft has another version meanwhile.
func (d *Drafts) Update(ctx context.Context, draft *Draft, content DraftContent) (*Draft, error) {
	variables := map[string]any{"id": draft.ID, "version": draft.Version, "content": content}
	return draftOf(run[draftAnswer](ctx, d.sender, "updateDraft", operation{updateDraft, variables}, false))
}

// Issue issues a draft as an invoice, once however often it is asked for.
func (d *Drafts) Issue(ctx context.Context, draft *Draft) (*Issued, error) {
	variables := map[string]any{"id": draft.ID, "version": draft.Version}
	return run[Issued](ctx, d.sender, "issueDraft", operation{issueDraft, variables}, true)
}

// Delete deletes a draft.
func (d *Drafts) Delete(ctx context.Context, draft *Draft) error {
	variables := map[string]any{"id": draft.ID, "version": draft.Version}
	_, err := run[struct{}](ctx, d.sender, "deleteDraft", operation{deleteDraft, variables}, false)
	return err
}

func draftOf(answer *draftAnswer, err error) (*Draft, error) {
	if err != nil {
		return nil, err
	}
	return &answer.Draft, nil
}
