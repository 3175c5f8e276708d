package fatoura

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
)

const graphqlPath = "/graphql"

// stated is an error as the service states it: in the result of a mutation, in the extensions of an error of GraphQL,
// or in an answer of REST.
type stated struct {
	Code    ErrorCode
	Message string
	Param   string
	Status  int
}

type operation struct {
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

type graphqlAnswer struct {
	Data   map[string]json.RawMessage
	Errors []struct {
		Message    string
		Extensions stated
	}
}

// run runs an operation with one field, and returns what that field has.
func run[Result any](
	ctx context.Context, sender *sender, field string, operation operation, isRepeatable bool,
) (*Result, error) {
	call := call{method: "POST", path: graphqlPath, body: operation, isRepeatable: isRepeatable}
	answer, _, err := send[graphqlAnswer](ctx, sender, call)
	if err != nil {
		return nil, err
	}
	result, text := new(Result), answer.Data[field]
	if len(text) == 0 || string(text) == "null" || json.Unmarshal(text, result) != nil {
		return nil, &Error{Family: ErrService, Message: "the answer has no " + field}
	}
	return result, nil
}

// refusal reads a refusal, which GraphQL answers with status 200, also where the service is not available.
func (a *graphqlAnswer) refusal(header http.Header) *Error {
	var found stated
	for _, text := range a.Data {
		// What is no object has no refusal.
		_ = json.Unmarshal(text, &found)
	}
	if len(a.Errors) > 0 {
		found = a.Errors[0].Extensions
		found.Message = a.Errors[0].Message
	}
	if found.Message == "" {
		return nil
	}
	status := cmp.Or(found.Status, http.StatusBadRequest)
	return &Error{
		Family:     familyOf(status),
		Message:    found.Message,
		Code:       found.Code,
		Param:      found.Param,
		Status:     status,
		RequestID:  header.Get("Request-Id"),
		RetryAfter: retryAfterOf(header),
	}
}
