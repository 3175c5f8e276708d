package fatoura

import (
	"context"
	"net/url"
)

const endpointsPath = "/v1/webhook_endpoints"

// WebhookEndpoints are the addresses that events are delivered to.
type WebhookEndpoints struct {
	sender *sender
}

// Create creates an endpoint. Its Secret is shown only here. The call is repeated only after a 429: if its answer is
// lost, list the endpoints, delete the new one, and create it again.
func (w *WebhookEndpoints) Create(
	ctx context.Context, endpoint CreateWebhookEndpoint,
) (*CreatedWebhookEndpoint, error) {
	call := call{method: "POST", path: endpointsPath, body: endpoint}
	created, _, err := send[CreatedWebhookEndpoint](ctx, w.sender, call)
	return created, err
}

// List reads all endpoints of the key's environment, at most 16.
func (w *WebhookEndpoints) List(ctx context.Context) ([]WebhookEndpoint, error) {
	list, err := read[WebhookEndpointList](ctx, w.sender, endpointsPath, nil)
	if err != nil {
		return nil, err
	}
	return list.Data, nil
}

// Update changes an endpoint.
func (w *WebhookEndpoints) Update(
	ctx context.Context, id string, change UpdateWebhookEndpoint,
) (*WebhookEndpoint, error) {
	call := call{method: "PATCH", path: endpointsPath + "/" + url.PathEscape(id), body: change, isRepeatable: true}
	updated, _, err := send[WebhookEndpoint](ctx, w.sender, call)
	return updated, err
}

// Delete deletes an endpoint.
func (w *WebhookEndpoints) Delete(ctx context.Context, id string) (*DeletedWebhookEndpoint, error) {
	call := call{method: "DELETE", path: endpointsPath + "/" + url.PathEscape(id), isRepeatable: true}
	deleted, _, err := send[DeletedWebhookEndpoint](ctx, w.sender, call)
	return deleted, err
}
