// A process that opens connections to a service, receives requests from the test, and sends them on these connections
// at the same time.
import { once } from 'node:events';
import { Agent, request } from 'node:http';

const [{ url, connections }] = await once(process, 'message');
const agent = new Agent({ keepAlive: true, maxSockets: connections });

function send({ method = 'POST', path, headers, body }) {
  return new Promise((resolve) => {
    const sent = request(url + path, { method, agent, headers }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', ({ code }) => resolve(code)).end(body);
  });
}

await Promise.all(Array.from({ length: connections }, () => send({ method: 'GET', path: '/healthz' })));
let requests = [];
process.on('message', async (message) => {
  if (message === 'go') return process.send(await Promise.all(requests.map(send)));
  requests = message;
  process.send('ready');
});
process.send('open');
