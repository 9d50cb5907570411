/** Turns the credential of a request into its principal. [auth/prefixes] [auth/workspace-key/both] */
import { unauthorized } from '../../ground/core/errors.ts'
import type { McpTokens } from '../../ground/core/security/mcp-token.ts'
import { recentLookups } from '../../ground/core/fairness/recent-lookups.ts'
import { hashToken, tokenKind } from '../../ground/core/security/token.ts'
import type { Notifying } from '../../ground/core/notice.ts'
import type {
  Authenticate,
  ClaimPrincipal,
  LoginPrincipal,
  Principal,
} from '../../ground/http/principal.ts'
import type { Ground } from '../../ground/ground.ts'
import { apiKeyStore } from './store.ts'
import type { KeyUses } from './uses.ts'

export const revokedKeysTopic = 'keys'

/** Notifies processes that a key opens something else than before, or nothing. */
export const notifyOfKey = (tx: Notifying, { id, hash }: { id: string; hash: string }): void =>
  tx.afterCommit({ topic: revokedKeysTopic, message: { hash, id } })

/** `isUnused`: no use of the key is written down or noted. */
type AuthenticatedKey = { principal: Principal; expiresAt: number; isUnused: boolean }

export function createAuthentication({
  databases,
  clock,
  bus,
  mcpTokens,
  claimOf,
  loginOf,
  uses,
}: Ground & {
  mcpTokens: McpTokens
  /** The claim of a claim token; undefined for an unknown token. */
  claimOf: (token: string) => Promise<ClaimPrincipal | undefined>
  /** The login of an access token; undefined for a token that is unknown or has ended. */
  loginOf: (token: string) => Promise<LoginPrincipal | undefined>
  uses: KeyUses
}): Authenticate {
  async function findKey(hash: string): Promise<AuthenticatedKey | undefined> {
    const row = await apiKeyStore(databases.control.read).byHash(hash)
    if (!row || row.revoked_at || row.kind === 'oauth') return undefined
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
    return { principal, expiresAt, isUnused: row.last_used_at === null }
  }
  const isAlone = databases.control.dialect === 'sqlite'
  const known = recentLookups(findKey, { clock, isAlone })
  bus.subscribe(revokedKeysTopic, ({ hash }) => known.forget(String(hash)))

  function mcpPrincipal(token: string): Principal {
    const grant = mcpTokens.read(token, clock.now())
    if (!grant) throw unauthorized('the token is not known, or has expired')
    const { tenant, session, server } = grant
    return { kind: 'mcp', tenant, sessionId: session, server }
  }

  return async (header) => {
    const key = credential(header)
    if (tokenKind(key) === 'mcp') return mcpPrincipal(key)
    if (tokenKind(key) === 'claim') {
      const claim = await claimOf(key)
      if (claim) return claim
      throw unauthorized('the claim is not known')
    }
    if (tokenKind(key) === 'access') {
      const login = await loginOf(key)
      if (login) return login
      throw unauthorized(
        'the access token is not known, has expired, or its login was ended: exchange its refresh token, or log in again',
      )
    }
    const found = await known.find(hashToken(key))
    if (!found) throw unauthorized('the API key is not known, or was revoked')
    if (found.expiresAt <= clock.now()) throw unauthorized('the API key has expired')
    if ('keyId' in found.principal && found.principal.keyId) {
      uses.note(found.principal.keyId, found.isUnused)
      found.isUnused = false
    }
    return found.principal
  }
}

const tokenNames = {
  environment: 'an environment key',
  claim: 'a claim token',
  mcp: 'a token for an MCP server',
  access: 'an access token',
  refresh: 'a refresh token',
}

/** The Bearer value comes before `x-api-key`: helpers of the official client send both, and mean the Bearer value. */
function credential(header: (name: string) => string | undefined): string {
  const bearer = /^Bearer\s+(\S.*)$/i.exec(header('authorization') ?? '')?.[1]?.trim()
  const key = bearer ?? header('x-api-key')?.trim()
  if (!key) throw unauthorized('an API key is required: send x-api-key, or Authorization: Bearer')
  const kind = tokenKind(key)
  if (kind !== 'workspace' && bearer === undefined)
    throw unauthorized(`${tokenNames[kind]} is accepted only as Authorization: Bearer`)
  if (kind === 'refresh')
    throw unauthorized('a refresh token opens nothing: exchange it at POST /v1/oauth/token')
  return key
}
