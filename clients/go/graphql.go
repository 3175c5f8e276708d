package fatoura

import (
	"context"
	"encoding/json"
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
	answer, header, err := send[graphqlAnswer](ctx, sender, call)
	if err != nil {
		return nil, err
	}
	var refusal stated
	text := answer.Data[field]
	if len(answer.Errors) > 0 {
		refusal = answer.Errors[0].Extensions
		refusal.Message = answer.Errors[0].Message
	} else if len(text) == 0 || string(text) == "null" || json.Unmarshal(text, &refusal) != nil {
		return nil, &Error{Family: ErrService, Message: "the answer has no " + field}
	}
	if refusal.Message != "" {
		status := refusal.Status
		if status == 0 {
			status = 400
		}
		return nil, &Error{
			Family:    familyOf(status),
			Message:   refusal.Message,
			Code:      refusal.Code,
			Param:     refusal.Param,
			Status:    status,
			RequestID: header.Get("Request-Id"),
		}
	}
	result := new(Result)
	return result, json.Unmarshal(text, result)
}
