import { useState } from 'preact/hooks';
import { KEY_KINDS } from '../../domain/api-key/key-kinds.ts';
import { hasScope } from '../../domain/scopes.ts';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { SecretOnce } from '../interface/secret-once.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatDate } from '../text/dates.ts';
import { useChange, useSharedRefusal } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { CREATE_KEY, KEYS, type Key, REVOKE_KEY, ROTATE_KEY } from './documents.ts';

/** `…/keys`: the API keys of the environment. A token is shown once, when its key is created. */
export function KeysPage() {
  const { texts } = useLanguage();
  const { tenant, environment } = useWorkspace();
  const { data, problem, reload } = useRead(KEYS, {});
  const shared = useSharedRefusal();
  const creation = useChange(CREATE_KEY, shared);
  const rotation = useChange(ROTATE_KEY, shared);
  const revocation = useChange(REVOKE_KEY, shared);
  const [token, setToken] = useState<string | null>(null);
  const { title, lead, make, made, kinds, none } = texts.keys;
  const isAllowed = hasScope(tenant.role, 'keys', environment);
  useTitle(title);

  async function issue(made: Promise<{ readonly token: string } | null>) {
    const issued = await made;
    if (issued) setToken(issued.token);
    reload();
  }

  return (
    <section aria-busy={!data && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {token !== null && <SecretOnce label={made} secret={token} onDone={() => setToken(null)} />}
      {isAllowed && (
        <p class="actions">
          {KEY_KINDS.map((kind) => (
            <button type="button" class="secondary" key={kind} onClick={() => void issue(creation.run({ kind }))}>
              {make[kind]}
            </button>
          ))}
        </p>
      )}
      <Refusal why={problem ? 'unreachable' : shared[0]} />
      {data?.apiKeys.length === 0 && <p class="empty">{none}</p>}
      <ul class="log">
        {data?.apiKeys.map((key) => (
          <KeyRow
            apiKey={key}
            name={kinds[key.kind]}
            key={key.id}
            onRotate={isAllowed ? () => void issue(rotation.run({ id: key.id })) : null}
            onRevoke={isAllowed ? () => void revocation.run({ id: key.id }).then(reload) : null}
          />
        ))}
      </ul>
    </section>
  );
}

interface KeyRowProps {
  readonly apiKey: Key;
  readonly name: string;
  readonly onRotate: (() => void) | null;
  readonly onRevoke: (() => void) | null;
}

function KeyRow({ apiKey: { kind, lastFour, createdAt, revokedAt }, name, onRotate, onRevoke }: KeyRowProps) {
  const { language, texts } = useLanguage();
  const { environment } = useWorkspace();
  const { createdOn, revokedOn, rotate, rotateQuestion, revoke, revokeQuestion } = texts.keys;
  return (
    <li data-revoked={revokedAt !== null}>
      <strong>{name}</strong>
      <code dir="ltr">
        {kind === 'secret' ? 'sk' : 'pk'}_{environment}_…{lastFour}
      </code>
      <span>
        {createdOn} <time dateTime={createdAt}>{formatDate(createdAt, language)}</time>
      </span>
      {revokedAt !== null && (
        <span>
          {revokedOn} <time dateTime={revokedAt}>{formatDate(revokedAt, language)}</time>
        </span>
      )}
      {revokedAt === null && (
        <span class="row-actions">
          {onRotate && (
            <ConfirmedButton question={rotateQuestion} onConfirm={onRotate}>
              {rotate}
            </ConfirmedButton>
          )}
          {onRevoke && (
            <ConfirmedButton question={revokeQuestion} onConfirm={onRevoke}>
              {revoke}
            </ConfirmedButton>
          )}
        </span>
      )}
    </li>
  );
}
