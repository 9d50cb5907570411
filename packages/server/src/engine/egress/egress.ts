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
import { repositoryTokenPlace } from '../../sessions/resources/repositories.ts'
import { openSecrets } from '../../resources/vaults/open.ts'
import { stands } from '../../sessions/work/claim.ts'
import type { Binding, Profile, SessionEgress } from './binding.ts'
import { certificatesIn, removeLeftCertificates } from './doors/certificates.ts'
import { forwarding } from './inject/forward.ts'
import { proxy } from './doors/proxy.ts'
import { remoteSandboxes } from './doors/remote.ts'
import { records } from './inject/records.ts'
import { refreshing } from './oauth/refresh.ts'
import { oauthRows, refreshFailed, useRows } from './oauth/rows.ts'
import type { RepositoryToken } from './policy/repository.ts'
import { rulesOf } from './policy/rules.ts'
import { sessionEgress } from './doors/session.ts'
import type { SessionOutbound } from './inject/standing.ts'
import { bound } from './inject/standing.ts'
import { sessionNow } from './policy/store.ts'
import { askForToken } from './oauth/token-request.ts'
import { upstream } from './inject/upstream.ts'
import { validating } from './oauth/validate.ts'

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
  /** Placeholders are made under it: the same key, the same names. */
  placeholderKey: Buffer
  /**
   * The authority is made of the first: the same in every process, and after a restart, to sandboxes that run elsewhere.
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
  const refresh = refreshing({
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
  const standing = new Set<SessionOutbound>()
  const openToken = ({ tenant_id, id, sealed_token }: RepositoryToken) =>
    seal.open(sealed_token, repositoryTokenPlace(tenant_id, id))
  const forward = forwarding({
    ...{ clock, open, openToken, placeholderKey, refresh },
    records: kept,
  })
  const read = (tenant: string, session: string) =>
    sessionNow(databases.of(tenant), tenant, session)

  /** Connections of its own for each. */
  function stand(binding: Binding): SessionOutbound {
    const { tenant, session: sessionId, environment, claim } = binding
    const rules = rulesOf(environment)
    const own = {
      ...{ rules, upstream: upstream(connect), operated: upstream(operatorConnect), read },
      stands: claim && (() => stands({ databases, clock }, { tenant, sessionId, ...claim })),
      ended: () => standing.delete(made),
    }
    const made: SessionOutbound = bound(binding, own)
    standing.add(made)
    return made
  }

  const bundleText = () =>
    [...getCACertificates('default'), ...trusted.map(({ pem }) => pem)].join('\n')
  const bundle = certificatesIn(folder, bundleText)
  const cleaned = removeLeftCertificates(folder).catch((error: unknown) =>
    log.warn('certificates of dead processes could not be removed', { error }),
  )

  const proxied = proxy({ databases, seal, clock, forward, stand })
  const bind = (binding: Binding): SessionEgress =>
    sessionEgress(stand(binding), {
      ...{ forward, records: kept, profile, dial, open, placeholderKey, authority },
      certificates: bundle.lay,
      ...{ connections, mostConnections },
    })
  const remote = remoteSandboxes({
    ...{ databases, clock, bus, log, bind, connections, certificates: bundleText },
  })
  return {
    /** The lists are the environment's as it is given: whoever binds reads it anew. */
    bind,
    /** For the routes of workers. */
    remote,
    /** For the proxy's route. */
    proxy: proxied,
    /** For the vaults' route. */
    validate: validating({ connect, refresh, open }),
    counts: kept.counts,
    async close() {
      proxied.close()
      await remote.close()
      for (const each of standing) each.revoke()
      await refresh.settled()
      await kept.close()
      await cleaned
      await bundle.remove()
    },
  }
}
