/**
 * Every way out of the service that a tenant's sessions take, and the one place where their secrets are opened.
 * [proxy/lookup-every-call]
 */
import type { Duplex } from 'node:stream'
import { getCACertificates } from 'node:tls'
import { certificateAuthority } from '@steward/gate/authority.ts'
import type { Bus } from '../../ground/bus/bus.ts'
import type { Connector, Dial } from '../../ground/core/dial.ts'
import type { Log } from '@steward/base/log.ts'
import type { Share } from '../../ground/core/share.ts'
import type { Seal } from '../../ground/core/seal.ts'
import type { Clock } from '@steward/base/time.ts'
import type { Databases } from '../../ground/database/database.ts'
import type { CredentialRow } from '../../resources/vaults/credentials.ts'
import { openSecrets } from '../../resources/vaults/open.ts'
import { repositoryTokenPlace } from '../../sessions/rows/resources.ts'
import { stands } from '../../sessions/work/claim.ts'
import { certificatesIn, removeLeftCertificates } from './callers/certificates.ts'
import type { Profile } from './callers/owner.ts'
import { mcpProxy } from './callers/proxy.ts'
import { remoteSandboxes } from './callers/remote.ts'
import type { SessionEgress } from './callers/session.ts'
import { sessionEgress } from './callers/session.ts'
import type { ContextDeps, OutboundContext, OutboundLease } from './inject/context.ts'
import { outboundContext } from './inject/context.ts'
import { createForward } from './inject/forward.ts'
import { records } from './inject/records.ts'
import { useRows } from './inject/uses.ts'
import { createRefresh } from './oauth/refresh.ts'
import { oauthRows, refreshFailed } from './oauth/rows.ts'
import { askForToken } from './oauth/token-request.ts'
import { validateCredential } from './oauth/validate.ts'
import type { RepositoryToken } from './policy/repository.ts'
import { sessionNow } from './policy/store.ts'

export type EgressOptions = {
  databases: Databases
  seal: Seal
  clock: Clock
  log: Log
  profile: Profile
  /** Guarded; without HTTP/2. */
  connect: Connector<'tenant'>
  /** Guarded, for tunnels. */
  dial: Dial<'tenant', Duplex>
  /** For the one endpoint of the operator's that sessions reach: the search engine. */
  operatorConnect: Connector<'operator'>
  /** SECRET: never logged. Placeholders are made under it: the same key, the same names. */
  placeholderKey: Buffer
  /**
   * SECRET: never logged. The authority is made of the first: the same in every process, and after a restart, to sandboxes that run elsewhere.
   * Those of the others are trusted too.
   */
  authorityKeys: readonly [Buffer, ...Buffer[]]
  /** Tells of claims that are lost. */
  bus: Bus
  /** Where the bundle of certificates for sandboxes is laid. */
  folder: string
  /** Of the connections that sandboxes hold to their gates, and how many there are in all. */
  connections: Share
  mostConnections: number
}

/** One sandbox has no more, and half of all at most. */
const mostOfSandbox = 512

export type Egress = ReturnType<typeof egress>

export function egress(options: EgressOptions) {
  const { databases, seal, clock, log, profile, connect, dial, folder } = options
  const { placeholderKey, authorityKeys, bus, connections, operatorConnect } = options
  const mostConnections = Math.min(mostOfSandbox, Math.ceil(options.mostConnections / 2))
  const authority = certificateAuthority({ seed: authorityKeys[0] })
  const trusted = [
    authority,
    ...authorityKeys.slice(1).map((seed) => certificateAuthority({ seed })),
  ]
  const open = (row: Parameters<typeof openSecrets>[1]) => openSecrets(seal, row)
  const kept = records({ rows: useRows(databases), log, clock })
  const failed = (error: unknown) => log.error('a refresh could not be made', { error })
  const refresh = createRefresh({
    rows: oauthRows({ databases, seal, clock }),
    clock,
    ask: (request) => askForToken(request, { connect, clock }),
    report(row, result) {
      log.warn('a token could not be refreshed', {
        tenant_id: row.tenant_id,
        vault_id: row.vault_id,
        credential_id: row.id,
        why: result.why,
        ...('answer' in result ? { status: result.answer.status } : {}),
      })
      refreshFailed({ databases, clock }, row).catch(failed)
    },
    fail: failed,
  })
  const openToken = ({ tenant_id, id, sealed_token }: RepositoryToken) =>
    seal.open(sealed_token, repositoryTokenPlace(tenant_id, id))
  const forward = createForward({
    clock,
    open,
    openToken,
    placeholderKey,
    tokens: refresh,
    records: kept,
  })

  const contexts = new Set<OutboundContext>()
  const ofContext: Omit<ContextDeps, 'ended'> = {
    connect,
    operatorConnect,
    read: async (tenant, session) => sessionNow(await databases.open(tenant), tenant, session),
    holdsClaim: ({ tenant, session: sessionId }, claim) =>
      stands({ databases, clock }, { tenant, sessionId, ...claim }),
  }
  /** Each has connections of its own. */
  function openContext(lease: OutboundLease): OutboundContext {
    const ended = () => contexts.delete(context)
    const context: OutboundContext = outboundContext(lease, { ...ofContext, ended })
    contexts.add(context)
    return context
  }

  const bundleText = () =>
    [...getCACertificates('default'), ...trusted.map(({ pem }) => pem)].join('\n')
  const bundle = certificatesIn(folder, bundleText)
  const cleaned = removeLeftCertificates(folder).catch((error: unknown) =>
    log.warn('certificates of dead processes could not be removed', { error }),
  )

  const proxied = mcpProxy({ databases, seal, clock, log, forward, openContext })
  const bind = (lease: OutboundLease): SessionEgress =>
    sessionEgress(openContext(lease), {
      forward,
      records: kept,
      profile,
      dial,
      open,
      placeholderKey,
      authority,
      certificates: bundle.write,
      connections,
      mostConnections,
    })
  const remote = remoteSandboxes({
    databases,
    clock,
    bus,
    log,
    bind,
    connections,
    certificates: bundleText,
  })
  return {
    /** The lists are the environment's as it is given: whoever binds reads it anew. */
    bind,
    /** For the routes of workers. */
    remote,
    /** For the proxy's route. */
    proxy: proxied,
    /** For the vaults' route. */
    validate: (_tenant: string, row: CredentialRow, signal: AbortSignal) =>
      validateCredential({ connect, refresh, open }, row, signal),
    counts: kept.counts,
    async close() {
      await proxied.close()
      await remote.close()
      for (const context of contexts) context.revoke()
      await refresh.settled()
      await kept.close()
      await cleaned
      await bundle.remove()
    },
  }
}
