/** A request's credential to its principal. [auth/prefixes] [auth/workspace-key/both] */
import type { Bus } from '../../ground/bus/bus.ts'
import { unauthorized } from '../../ground/core/errors.ts'
import type { McpTokens } from '../../ground/core/mcp-token.ts'
import { recentLookups } from '../../ground/core/recent-lookups.ts'
import type { Clock } from '@steward/base/time.ts'
import { hashToken, tokenKind } from '../../ground/core/token.ts'
import type { Databases } from '../../ground/database/database.ts'
import type { Authenticate, ClaimPrincipal, Principal } from '../../ground/http/principal.ts'
import { apiKeyStore } from './store.ts'

export const revocations = 'keys'

type AuthenticatedKey = { principal: Principal; expiresAt: number }

export function authentication({
  databases,
  clock,
  bus,
  mcpTokens,
  claimOf,
  uses,
}: {
  databases: Databases
  clock: Clock
  bus: Bus
  mcpTokens: McpTokens
  /** The claim that a token stands for; undefined when it is none of ours. */
  claimOf: (token: string) => Promise<ClaimPrincipal | undefined>
  /** The ids of the keys that were used since the job of uses has run. */
  uses: Set<string>
}): Authenticate {
  async function look(hash: string): Promise<AuthenticatedKey | undefined> {
    const row = await apiKeyStore(databases.control.read).byHash(hash)
    if (!row || row.revoked_at) return undefined
    const expiresAt =
      row.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(row.expires_at)
    const base = { tenant: row.tenant_id, keyId: row.id, name: row.name }
    const principal: Principal =
      row.kind === 'workspace'
        ? { kind: 'workspace', ...base, admin: row.admin === 1, readOnly: row.read_only === 1 }
        : {
            kind: 'environment',
            ...base,
            environmentId: row.environment_id ?? '',
            reach: row.reach ?? 'work',
          }
    return { principal, expiresAt }
  }
  const isAlone = databases.control.dialect === 'sqlite'
  const known = recentLookups(look, { clock, isAlone })
  bus.subscribe(revocations, ({ hash }) => known.forget(String(hash)))

  function granted(token: string): Principal {
    const grant = mcpTokens.read(token, clock.now())
    if (!grant) throw unauthorized('the token is not known, or has expired')
    const { tenant, session, server } = grant
    return { kind: 'mcp', tenant, sessionId: session, server }
  }

  return async (header) => {
    const key = credential(header)
    if (tokenKind(key) === 'mcp') return granted(key)
    if (tokenKind(key) === 'claim') {
      const claim = await claimOf(key)
      if (claim) return claim
      throw unauthorized('the claim is not known')
    }
    const found = await known.find(hashToken(key))
    if (!found) throw unauthorized('the API key is not known, or was revoked')
    if (found.expiresAt <= clock.now()) throw unauthorized('the API key has expired')
    if ('keyId' in found.principal && found.principal.keyId) uses.add(found.principal.keyId)
    return found.principal
  }
}

const called = {
  environment: 'an environment key',
  claim: 'a claim token',
  mcp: 'a token for an MCP server',
}

/** The Bearer value where there is one: the official client's helpers put theirs there, beside a caller's key. */
function credential(header: (name: string) => string | undefined): string {
  const bearer = /^Bearer\s+(\S.*)$/i.exec(header('authorization') ?? '')?.[1]?.trim()
  const key = bearer ?? header('x-api-key')?.trim()
  if (!key) throw unauthorized('an API key is required: send x-api-key, or Authorization: Bearer')
  const kind = tokenKind(key)
  if (kind !== 'workspace' && bearer === undefined)
    throw unauthorized(`${called[kind]} is accepted only as Authorization: Bearer`)
  return key
}
