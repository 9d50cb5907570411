/** The channel on which a publication tells its people: the adapter, and requests with the publication's credential. */
import type { Rules } from '../../../ground/core/rules/rules.ts'
import type { Database } from '../../../ground/database/database.ts'
import { signedHeaders } from '../../../tenants/webhooks/sign.ts'
import type { TokenDeps } from '../installations/token.ts'
import { findInstallationToken } from '../installations/token.ts'
import { getApp } from '../installations/apps.ts'
import type { FileUploads, Integration, ProviderCall, Telling } from '../integration.ts'
import { openPublicationSecrets } from '../publications.ts'
import type { AnswerLetter, Send } from './send.ts'
import { signedWebhook } from '../deliveries/signed-webhook.ts'
import type { PublicationRow } from '../store.ts'
import { rows } from '../../../ground/database/rows.ts'

export type AnswerChannel = {
  adapter: Pick<
    Integration<never>,
    | 'callFor'
    | 'lookUp'
    | 'searchFor'
    | 'found'
    | 'noted'
    | 'verdict'
    | 'reasonOf'
    | 'urlOf'
    | 'withoutThread'
  >
  /** The refused token, for a provider that may give a new one. SECRET: never logged. */
  token?: string
  letter: (telling: Telling, call: ProviderCall) => AnswerLetter
  send: Send
  /** Undefined when files of agents are not sent. */
  files?: { uploads: FileUploads; origins: readonly string[]; scopes: readonly string[] }
}

export type ChannelDeps = TokenDeps & {
  /** Sends to addresses that tenants name. */
  send: Send
  limits: { rules: Rules }
}

export type FoundChannel =
  | { kind: 'channel'; channel: AnswerChannel }
  /** The publication tells nobody. */
  | { kind: 'silent' }
  | { kind: 'needs_reauth' }
  | { kind: 'again'; afterMs: number }

const unreachableMs = 30_000
/** The wait while another process renews the token. */
const heldMs = 1_000

/** `refused`: the token that the provider does not take any more. */
export function openChannel(
  deps: ChannelDeps,
  { db, signal }: { db: Database; signal: AbortSignal },
  publication: PublicationRow,
  refused?: string,
): Promise<FoundChannel> {
  const { installation_id: installation } = publication
  return installation === null
    ? Promise.resolve(ofWebhook(deps, publication))
    : ofInstallation(deps, { db, signal }, publication, { installation, refused })
}

function ofWebhook(
  { seal, clock, send, limits: { rules } }: ChannelDeps,
  publication: PublicationRow,
): FoundChannel {
  const base = publication.spec.webhook?.answer_url ?? null
  if (base === null) return { kind: 'silent' }
  const channel: AnswerChannel = {
    adapter: signedWebhook,
    async send(letter, signal) {
      const error = await rules.refusal(publication.tenant_id, 'webhooks', [base])
      return error === undefined ? send(letter, signal) : { error }
    },
    letter({ id }, { method, path, headers, body }) {
      const secrets = openPublicationSecrets(seal, publication)
      const signed = signedHeaders({ id, body: body ?? '' }, secrets, clock.now())
      return { method, url: `${base}${path}`, headers: { ...headers, ...signed }, body }
    },
  }
  return { kind: 'channel', channel }
}

async function ofInstallation(
  deps: ChannelDeps,
  { db, signal }: { db: Database; signal: AbortSignal },
  { tenant_id: tenant, integration }: PublicationRow,
  { installation, refused }: { installation: string; refused: string | undefined },
): Promise<FoundChannel> {
  const row = await rows(db.read, 'installations').find(tenant, installation)
  if (row?.status !== 'active') return { kind: 'needs_reauth' }
  const found = await findInstallationToken(deps, db, row, { signal, refused })
  if (found.kind === 'refused') return { kind: 'needs_reauth' }
  if (found.kind === 'unreachable') return { kind: 'again', afterMs: unreachableMs }
  if (found.kind === 'held') return { kind: 'again', afterMs: heldMs }
  const app = getApp(deps.apps, integration)
  const { adapter, apiUrl, uploads, uploadOrigins = [] } = app
  const channel: AnswerChannel = {
    adapter,
    ...(app.renewsTokens && { token: found.token }),
    send: deps.sendToProvider,
    ...(uploads && { files: { uploads, origins: uploadOrigins, scopes: row.scopes } }),
    letter: (_telling, { method, path, headers, body }) => ({
      method,
      url: `${apiUrl}${path}`,
      headers: { ...headers, authorization: `Bearer ${found.token}` },
      body,
    }),
  }
  return { kind: 'channel', channel }
}
