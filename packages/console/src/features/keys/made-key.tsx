/** A key that was made: shown once, in the command where it is used, until somebody has it. */
import { Button } from '../../components/button.tsx'
import { Time, TimeLeft } from '../../components/figures.tsx'
import { Facts } from '../../components/panel.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { Status } from '../../components/status.tsx'
import type { ApiKey, ApiKeyWithValue } from '../../lib/api/types.ts'
import { serviceUrl } from '../../lib/place.ts'
import { RightsOf } from './rights-of.tsx'
import { keyWords as own } from './words.ts'

type MadeKeyProps = {
  made: ApiKeyWithValue
  /** The same as the list has it now. */
  now: ApiKey | undefined
  onDone: () => void
  onRevoke: () => void
}

export const MadeKey = ({ made, now, onDone, onRevoke }: MadeKeyProps) => (
  <SecretOnce
    title={own.made(made.name)}
    secret={made.key}
    command={commandOf(made)}
    onDone={onDone}
    actions={
      <Button kind="plain" onClick={onRevoke}>
        {own.revokeIt}
      </Button>
    }
  >
    <Facts
      facts={[
        [own.columns.rights, <RightsOf key="rights" of={made} />],
        [own.columns.ends, <TimeLeft key="ends" at={made.expires_at} />],
        [own.firstUse, <FirstUse key="use" at={now?.last_used_at ?? null} />],
      ]}
    />
  </SecretOnce>
)

const FirstUse = ({ at }: { at: string | null }) => (
  <output aria-label={own.firstUse}>
    {at === null ? (
      <Status tone="queued">{own.notUsed}</Status>
    ) : (
      <Status tone="done">
        {own.worked} · <Time at={at} form="clock" />
      </Status>
    )}
  </output>
)

/** The key is typed unseen: in a command it would stand in the history of the shell. */
const commandOf = ({ environment_id: environment }: ApiKeyWithValue): string =>
  environment === null
    ? `read -rs STEWARD_API_KEY && export STEWARD_API_KEY
curl '${serviceUrl}/v1/agents?limit=1' \\
  -H "x-api-key: $STEWARD_API_KEY"`
    : `read -rs WORKER_ENVIRONMENT_KEY && export WORKER_ENVIRONMENT_KEY
export WORKER_BASE_URL='${serviceUrl}' WORKER_ENVIRONMENT_ID=${environment}
npm run worker`
