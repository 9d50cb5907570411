/** For tests: forwards to one real upstream, with credentials without database rows. */
import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import type { OutboundAnswer, HeaderPairs } from '@steward/gate/outbound.ts'
import { createMask } from '@steward/mask/mask.ts'
import { emptyEnvironment } from '@steward/protocol/environments.ts'
import { dialsFor } from '../../../ground/core/security/dial.ts'
import { createSeal } from '../../../ground/core/security/seal.ts'
import { systemClock } from '@steward/base/time.ts'
import type { EchoedRequest, UpstreamListener } from '../fixture.ts'
import { connectTo, echo, upstreamServer } from '../fixture.ts'
import { outboundContext } from './context.ts'
import type { OutboundCall } from './forward.ts'
import { createForward } from './forward.ts'
import type { CredentialAuth } from '@steward/protocol/vaults.ts'
import type { CredentialRow } from '../../../resources/vaults/credentials.ts'
import { sealSecrets } from '../../../resources/vaults/credentials.ts'
import { openSecrets } from '../../../resources/vaults/open-credential.ts'
import type { CredentialSecrets } from '../../../resources/vaults/auth.ts'
import { derivePlaceholder } from './placeholder.ts'
import type { CallEnd, CallSubject } from './records.ts'
import type { RepositoryToken } from '../policy/repository.ts'
import type { UpstreamRequest } from './upstream.ts'

const seal = createSeal('a root secret for tests')
export const key = Buffer.alloc(32, 7)
export const secret = 'canary-bearer-0123456789'

export function buildCredentialRow(
  auth: CredentialAuth,
  secrets: CredentialSecrets,
  id = 'vcrd_1',
): CredentialRow {
  return {
    tenant_id: 'wrkspc_1',
    vault_id: 'vlt_1',
    id,
    revision: 1,
    auth,
    sealed: sealSecrets(seal, { tenant: 'wrkspc_1', id }, secrets),
  }
}

export const bearerRow = (url: string, token = secret, id?: string) =>
  buildCredentialRow({ type: 'static_bearer', mcp_server_url: url }, { token }, id)

export const variableRow = (
  setup: { header: boolean; body: boolean },
  allowed_hosts = ['api.example'],
) =>
  buildCredentialRow(
    {
      type: 'environment_variable',
      secret_name: 'API_KEY',
      networking: { type: 'limited', allowed_hosts },
      injection_location: setup,
    },
    { secret_value: 'canary-variable-é' },
    'vcrd_v',
  )
export const placeholder = derivePlaceholder(key, {
  tenant: 'wrkspc_1',
  session: 'sesn_1',
  credential: 'vcrd_v',
})

const outbound: OutboundCall = {
  caller: 'rpc-outbound',
  server: 'api.example',
  namer: 'tenant',
  credentials: 'host',
}

/** A context with these credentials and one upstream, and the records of its calls. */
export async function openTestContext(
  rows: CredentialRow[],
  listener: UpstreamListener = echo,
  repositories: RepositoryToken[] = [],
) {
  const server = await upstreamServer(listener)
  const ended: (CallSubject & CallEnd)[] = []
  const used: { id: string | null; ended?: CallEnd }[] = []
  const clear: string[] = []
  let begin = (): Promise<void> => Promise.resolve()
  const forwards = createForward({
    clock: systemClock,
    open: async (row) => openSecrets(seal, row),
    openToken: ({ sealed_token }) => sealed_token,
    maskOf: createMask,
    placeholderKey: key,
    tokens: {
      ahead: async (_row, token) => ({ token, refreshed: false, tried: false }),
      after: () => assert.fail('nothing is refreshed'),
    },
    records: {
      counts: { forwarded: 0, failed: 0, refused: 0, tunnelled: 0, refreshed: 0 },
      begin(_about, row) {
        const use: (typeof used)[number] = { id: row?.id ?? null }
        used.push(use)
        return { durable: begin(), end: (end) => void (use.ended = end) }
      },
      ended: (about, end) => void ended.push({ ...about, ...end }),
      tunnelled: () => {},
      leftInClear: ({ session }, host) => clear.push(`${session} ${host}`) === 1,
      has: () => false,
      flush: async () => {},
      close: async () => {},
    },
  })
  const environment = { ...emptyEnvironment, name: 'test' }
  const lease = { tenant: 'wrkspc_1', session: 'sesn_1', environment, generation: null }
  const context = outboundContext(lease, {
    connect: connectTo(server),
    operatorConnect: dialsFor('operator', connectTo(server)),
    read: async () => ({ generation: 0, isOver: false, credentials: rows, repositories }),
    holdsClaim: () => assert.fail('no worker has claimed the session'),
    ended: () => {},
  })
  const sent = (url: string, rest: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
    method: 'GET',
    url: new URL(url),
    headers: [],
    body: null,
    signal: new AbortController().signal,
    ...rest,
  })
  return {
    server,
    ended,
    used,
    /** Hosts to which placeholders left over plain http. */
    clear,
    context,
    holdAudit(promise: Promise<void>) {
      begin = () => promise
    },
    ask: (url: string, rest?: Partial<UpstreamRequest>, call = outbound) =>
      forwards.forward(sent(url, rest), context, call),
    upgrade: (url: string, rest?: Partial<UpstreamRequest>) =>
      forwards.upgrade(sent(url, rest), context, outbound),
    async [Symbol.asyncDispose]() {
      context.revoke()
      await server[Symbol.asyncDispose]()
    },
  }
}

export const readEcho = async (answer: Promise<OutboundAnswer>): Promise<EchoedRequest> =>
  JSON.parse(await text((await answer).body)) as EchoedRequest
export const headerOf = (headers: HeaderPairs, name: string) =>
  headers.filter(([own]) => own.toLowerCase() === name).map(([, value]) => value)
