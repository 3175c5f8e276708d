import { useEffect, useRef, useState } from 'preact/hooks';
import { KEY_KINDS } from '../../domain/api-key/key-kinds.ts';
import { LONGEST_KEY_NAME } from '../../domain/limits.ts';
import { hasScope } from '../../domain/scopes.ts';
import { ConfirmedButton } from '../interface/confirmed-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { Refusal } from '../interface/refusal.tsx';
import { SecretOnce } from '../interface/secret-once.tsx';
import { useTitle } from '../interface/use-title.ts';
import { formatDate, formatMinute } from '../text/dates.ts';
import { KEY_TEXTS } from '../text/keys.ts';
import { useChange, useSharedRefusal } from '../workspace/use-change.ts';
import { useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { CREATE_KEY, KEYS, type Key, RENAME_KEY, REVOKE_KEY, ROTATE_KEY } from './documents.ts';

/** `…/keys`: the API keys of the environment. A token is shown once, when its key is created. */
export function KeysPage() {
  const { texts, language } = useLanguage();
  const { tenant, environment } = useWorkspace();
  const { data, problem, reload } = useRead(KEYS, {});
  const shared = useSharedRefusal();
  const creation = useChange(CREATE_KEY, shared);
  const rotation = useChange(ROTATE_KEY, shared);
  const revocation = useChange(REVOKE_KEY, shared);
  const renaming = useChange(RENAME_KEY, shared);
  const [name, setName] = useState('');
  const [token, setToken] = useState<string | null>(null);
  const { title, lead, make, made, kinds, none } = texts.keys;
  const { nameOfNew } = KEY_TEXTS[language];
  const isAllowed = hasScope(tenant.role, 'keys', environment);
  useTitle(title);

  async function issue(made: Promise<{ readonly token: string } | null>) {
    const issued = await made;
    if (issued) {
      setToken(issued.token);
      setName('');
    }
    reload();
  }

  return (
    <section aria-busy={!data && !problem}>
      <h1 class="title">{title}</h1>
      <p class="under">{lead}</p>
      {token !== null && <SecretOnce label={made} secret={token} onDone={() => setToken(null)} />}
      {isAllowed && (
        <p class="actions">
          <input
            class="named"
            name="name"
            value={name}
            maxLength={LONGEST_KEY_NAME}
            aria-label={nameOfNew}
            placeholder={nameOfNew}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          {KEY_KINDS.map((kind) => (
            <button
              type="button"
              class="secondary"
              key={kind}
              onClick={() => void issue(creation.run({ kind, name: name.trim() || null }))}
            >
              {make[kind]}
            </button>
          ))}
        </p>
      )}
      <Refusal why={problem ? 'unreachable' : shared[0]} onRetry={reload} />
      {data?.apiKeys.length === 0 && <p class="empty">{none}</p>}
      <ul class="log">
        {data?.apiKeys.map((key) => (
          <KeyRow
            apiKey={key}
            kindName={kinds[key.kind]}
            key={key.id}
            onRename={isAllowed ? (name) => void renaming.run({ id: key.id, name }).then(reload) : null}
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
  readonly kindName: string;
  readonly onRename: ((name: string | null) => void) | null;
  readonly onRotate: (() => void) | null;
  readonly onRevoke: (() => void) | null;
}

function KeyRow({ apiKey, kindName, onRename, onRotate, onRevoke }: KeyRowProps) {
  const { kind, name, lastFour, createdAt, revokedAt, lastUsedAt } = apiKey;
  const { language, texts } = useLanguage();
  const { environment } = useWorkspace();
  const { lastUse, noUse } = KEY_TEXTS[language];
  const { createdOn, revokedOn, rotate, rotateQuestion, revoke, revokeQuestion } = texts.keys;
  return (
    <li data-revoked={revokedAt !== null}>
      <strong>{name === null ? kindName : <bdi>{name}</bdi>}</strong>
      {name !== null && <span>{kindName}</span>}
      <code dir="ltr">
        {kind === 'secret' ? 'sk' : 'pk'}_{environment}_…{lastFour}
      </code>
      <span>
        {createdOn} <time dateTime={createdAt}>{formatDate(createdAt, language)}</time>
      </span>
      <span class="last-use">
        {lastUsedAt === null ? (
          noUse
        ) : (
          <>
            {lastUse} <time dateTime={lastUsedAt}>{formatMinute(lastUsedAt, language)}</time>
          </>
        )}
      </span>
      {revokedAt !== null && (
        <span>
          {revokedOn} <time dateTime={revokedAt}>{formatDate(revokedAt, language)}</time>
        </span>
      )}
      {revokedAt === null && (
        <span class="row-actions">
          {onRename && <Rename name={name} onRename={onRename} />}
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

interface RenameProps {
  readonly name: string | null;
  readonly onRename: (name: string | null) => void;
}

/** A button, and after it the field in which a key gets another name. */
function Rename({ name, onRename }: RenameProps) {
  const { texts, language } = useLanguage();
  const [isOpen, setIsOpen] = useState(false);
  const { rename, nameOfKey } = KEY_TEXTS[language];
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), [isOpen]);
  if (!isOpen) {
    return (
      <button type="button" class="quiet" onClick={() => setIsOpen(true)}>
        {rename}
      </button>
    );
  }
  return (
    <form
      class="rename"
      onSubmit={(event) => {
        event.preventDefault();
        onRename(String(new FormData(event.currentTarget).get('name')).trim() || null);
        setIsOpen(false);
      }}
    >
      <input name="name" defaultValue={name ?? ''} maxLength={LONGEST_KEY_NAME} aria-label={nameOfKey} ref={field} />
      <button type="submit" class="secondary">
        {texts.endpoints.save}
      </button>
    </form>
  );
}
