// A process that sends a service many requests at the same time and counts the answers. Its work and its memory are not
// the service's.
import { once } from 'node:events';

const [{ url, requests }] = await once(process, 'message');
const answers = await Promise.all(
  requests.map(async ({ token, path, accept, query }) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', Accept: accept },
      body: JSON.stringify({ query }),
    });
    let [bytes, start] = [0, ''];
    for await (const chunk of response.body) {
      bytes += chunk.length;
      if (start.length < 1000) start += Buffer.from(chunk).toString('latin1', 0, 1000);
    }
    return { status: response.status, bytes, refused: start.includes('"errors"') };
  }),
);
process.send(answers, () => process.exit());
