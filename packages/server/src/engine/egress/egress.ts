/**
 * Builds the four callers of egress. All calls of a tenant's sessions leave here, and only here are their secrets
 * opened. [proxy/lookup-every-call]
 */
import type { Duplex } from 'node:stream'
import { getCACertificates } from 'node:tls'
import { certificateAuthority } from '@steward/gate/authority.ts'
import type { Rules } from '../../ground/core/rules/rules.ts'
import type { Connector, Dial } from '../../ground/core/security/dial.ts'
import type { Log } from '@steward/base/log.ts'
import type { Share } from '../../ground/core/fairness/share.ts'
import type { Ground } from '../../ground/ground.ts'
import type { CredentialRow } from '../../resources/vaults/credentials.ts'
import { isCurrentClaim } from '../../sessions/work/claim.ts'
import { certificatesIn, removeLeftCertificates } from './callers/certificates.ts'
import type { EgressProfile } from './callers/owner.ts'
import { mcpProbe } from './callers/probe.ts'
import { mcpProxy } from './callers/proxy.ts'
import { remoteSandboxes } from './callers/remote.ts'
import { ruledForward } from './callers/ruled-forward.ts'
import type { SessionEgress } from './callers/session.ts'
import { sessionEgress } from './callers/session.ts'
import type { CompanySecrets } from './company-secrets/company-secrets.ts'
import { openSecrets } from '../../resources/vaults/open-credential.ts'
import { secretCache } from './inject/secret-cache.ts'
import type { ContextDeps, OutboundContext, OutboundLease, RuledLease } from './inject/context.ts'
import { outboundContext } from './inject/context.ts'
import { createForward } from './inject/forward.ts'
import { credentialOpener } from './inject/open-credentials.ts'
import { flushJob, createCallRecords } from './inject/records.ts'
import { useRows } from './inject/uses.ts'
import { agentTokens, withAgentTokens } from './identity/tokens.ts'
import type { AgentIdentity } from './identity/keys.ts'
import { createRefresh } from './oauth/refresh.ts'
import { oauthRows, refreshFailureChange } from './oauth/rows.ts'
import { askForToken } from './oauth/token-request.ts'
import { validateCredential } from './oauth/validate.ts'
import { tokenSource } from './oauth/tokens.ts'
import { sessionNow } from './policy/store.ts'

export type EgressOptions = Ground & {
  rules: Rules
  profile: EgressProfile
  /** Reads what credentials refer to in secret managers. */
  companySecrets: Pick<CompanySecrets, 'read' | 'readAnew'>
  /** Guarded. HTTP/1.1 only. */
  connect: Connector<'tenant'>
  /** Guarded. For tunnels. */
  dial: Dial<'tenant', Duplex>
  /** Connects to the search engine, the only endpoint of the operator that sessions reach. */
  operatorConnect: Connector<'operator'>
  /** SECRET: never logged. Derives placeholders: the same key gives the same placeholders. */
  placeholderKey: Buffer
  /**
   * SECRET: never logged. The first key derives the certificate authority, which is therefore the same in every process
   * and after a restart. Authorities of the other keys are trusted too.
   */
  authorityKeys: readonly [Buffer, ...Buffer[]]
  /** What agents prove who they are by. */
  identity: AgentIdentity
  /** Folder for the certificate bundles of sandboxes. */
  folder: string
  /** `connections`: the tenants' shares of the connections from sandboxes to gates. `mostConnections`: their total. */
  connections: Share
  mostConnections: number
}

/** Connections of one sandbox; also half of `mostConnections` at most. */
const mostOfSandbox = 512

export type Egress = ReturnType<typeof createEgress>

const removeLeft = (folder: string, log: Log): Promise<void> =>
  removeLeftCertificates(folder).catch((error: unknown) =>
    log.warn('certificates of dead processes could not be removed', { error }),
  )

export function createEgress(options: EgressOptions) {
  const { databases, seal, clock, log, profile, connect, dial, folder } = options
  const { placeholderKey, authorityKeys, connections, operatorConnect } = options
  const mostConnections = Math.min(mostOfSandbox, Math.ceil(options.mostConnections / 2))
  const authority = certificateAuthority({ seed: authorityKeys[0] })
  const trusted = [
    authority,
    ...authorityKeys.slice(1).map((seed) => certificateAuthority({ seed })),
  ]
  const secrets = secretCache(seal, clock)
  const { companySecrets } = options
  const sealedOf = (row: CredentialRow) => openSecrets(secrets.seal, row)
  const opener = credentialOpener({ open: sealedOf, companySecrets })
  const openForCall = withAgentTokens(opener.forCall, agentTokens(options))
  const kept = createCallRecords({ rows: useRows(databases), log, clock })
  const failed = (error: unknown) => log.error('a refresh could not be made', { error })
  const refresh = createRefresh({
    rows: oauthRows(options),
    clock,
    open: opener.all,
    ask: (request) => askForToken(request, { connect, clock }),
    report(row, result) {
      log.warn('a token could not be refreshed', {
        tenant_id: row.tenant_id,
        vault_id: row.vault_id,
        credential_id: row.id,
        why: result.why,
        ...('answer' in result ? { status: result.answer.status } : {}),
      })
      refreshFailureChange(options, row).catch(failed)
    },
    fail: failed,
  })
  const plain = createForward({
    clock,
    ...secrets,
    open: openForCall,
    placeholderKey,
    tokens: tokenSource(refresh, opener),
    records: kept,
  })
  const forward = ruledForward(plain, options.rules)

  const contexts = new Set<OutboundContext>()
  const ofContext: Omit<ContextDeps, 'ended'> = {
    connect,
    operatorConnect,
    read: async (tenant, session) =>
      sessionNow((await databases.open(tenant)).read, tenant, session),
    holdsClaim: ({ tenant, session: sessionId }, claim) =>
      isCurrentClaim(options, { tenant, sessionId, ...claim }),
  }
  /** Each context has its own connections. */
  function openContext(lease: RuledLease, read = ofContext.read): OutboundContext {
    const ended = () => contexts.delete(context)
    const context: OutboundContext = outboundContext(lease, { ...ofContext, read, ended })
    contexts.add(context)
    return context
  }

  const bundleText = () =>
    [...getCACertificates('default'), ...trusted.map(({ pem }) => pem)].join('\n')
  const bundle = certificatesIn(folder, bundleText)
  const cleaned = removeLeft(folder, log)

  const proxied = mcpProxy({ ...options, seal: secrets.seal, forward, openContext })
  const bind = (lease: OutboundLease): SessionEgress =>
    sessionEgress(openContext(lease), {
      forward,
      records: kept,
      profile,
      dial,
      open: opener.forCall,
      placeholderKey,
      authority,
      certificates: bundle.write,
      connections,
      mostConnections,
    })
  const remote = remoteSandboxes({ ...options, bind, certificates: bundleText })
  return {
    /** Opens the egress of one lease. The environment is read once, by the caller. */
    bind,
    /** Used by the routes of workers. */
    remote,
    /** Used by the route of the MCP proxy. */
    proxy: proxied,
    /** Used by the route that tries MCP servers. */
    probe: mcpProbe({ ...options, forward, openContext }),
    /** Used by the routes of public keys. */
    identity: options.identity,
    validate: (_tenant: string, row: CredentialRow, signal: AbortSignal) =>
      validateCredential({ connect, refresh, open: opener.all }, row, signal),
    counts: kept.counts,
    job: flushJob(kept),
    async close() {
      await proxied.close()
      await remote.close()
      for (const context of contexts) context.revoke()
      secrets.close()
      await refresh.settled()
      await kept.close()
      await cleaned
      await bundle.remove()
    },
  }
}
