import { useEffect, useState } from 'preact/hooks';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { formatMoment } from '../text/dates.ts';
import { type AccountInput, callAccounts, type Refusal } from './account-api.ts';
import { describeRefusal } from './account-form.tsx';
import { deviceOf } from './device.ts';

interface OpenSession {
  readonly id: string;
  readonly userAgent: string | null;
  readonly address: string | null;
  readonly current: boolean;
  readonly begunAt: string;
  readonly usedAt: string;
}

/** Lists the browsers in which a person is signed in. Each can be signed out. */
export function Sessions() {
  const { texts, language } = useLanguage();
  const { sessions: words } = texts.account;
  const [sessions, setSessions] = useState<readonly OpenSession[] | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);

  async function read() {
    const outcome = await callAccounts('sessions');
    if (outcome.refusal === null) setSessions(outcome.body.sessions as OpenSession[]);
    else setRefusal(outcome.refusal);
  }
  useEffect(() => void read(), []);

  async function end(path: string, input: AccountInput) {
    const { refusal: failed } = await callAccounts(path, input);
    // A session that has ended by itself is the wanted result.
    setRefusal(failed?.code === 'resource_not_found' ? null : failed);
    await read();
  }

  return (
    <section class="card" aria-labelledby="sessions" aria-busy={sessions === null && refusal === null}>
      <h2 id="sessions">{words.title}</h2>
      <p class="under">{words.lead}</p>
      <p class="refusal" role="alert">
        {refusal && describeRefusal(refusal, texts.account)}
      </p>
      <ul class="log">
        {sessions?.map(({ id, userAgent, address, current, begunAt, usedAt }) => (
          <li key={id}>
            <strong>
              <bdi title={userAgent ?? undefined}>{userAgent === null ? words.unknown : deviceOf(userAgent)}</bdi>{' '}
              {current && <span class="under">({words.current})</span>}
            </strong>
            {address !== null && <bdi dir="ltr">{address}</bdi>}
            <span>
              {words.used} <time dateTime={usedAt}>{formatMoment(usedAt, language)}</time>
            </span>
            <span class="under">
              {words.begun} <time dateTime={begunAt}>{formatMoment(begunAt, language)}</time>
            </span>
            {!current && (
              <span class="row-actions">
                <ConfirmedButton question={words.endQuestion} onConfirm={() => void end('sessions/end', { id })}>
                  {words.end}
                </ConfirmedButton>
              </span>
            )}
          </li>
        ))}
      </ul>
      {sessions && sessions.length > 1 && (
        <ConfirmedButton question={words.endOthersQuestion} onConfirm={() => void end('sessions/end-others', {})}>
          {words.endOthers}
        </ConfirmedButton>
      )}
    </section>
  );
}
