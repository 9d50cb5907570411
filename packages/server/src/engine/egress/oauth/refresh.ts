/**
 * Refreshes the tokens of `mcp_oauth` credentials. One refresh at a time runs for a credential, across processes; other
 * calls wait for the row to change. A new token is on disk before it is used. A token that cannot be written stays in
 * memory and is written by the next call that needs it, because the old token may be void.
 */
import type { Clock } from '@steward/base/time.ts'
import type { RowLease } from '../../../ground/database/row-lease.ts'
import type { TokenAhead } from '../inject/forward.ts'
import type { CredentialOpener } from '../inject/open-credentials.ts'
import { UnreadableSecretError } from '../inject/open-credentials.ts'
import type { OAuthRow } from '../policy/credential.ts'
import type { OAuthRows, OAuthSecrets } from './rows.ts'
import type { TokenAnswer, TokenRequest } from './token-request.ts'

/** A token with less than this time left is renewed ahead. */
const aheadMs = 60_000
/** Lease on a credential; longer than a token request may take. */
const leaseMs = 15_000
const pollMs = 25
/** Delay between two attempts to write an issued token. */
const storeAgainMs = 250
/** After a refused refresh token no refresh is tried for this time, unless the credential changes. */
const refusedMs = 30_000
/** After any other failure no refresh ahead of expiry is tried for this time. */
const pauseMs = 5_000

export type RefreshOutcome =
  | {
      ok: true
      /** SECRET: never logged. */
      token: string
      /** True when this call made the refresh. */
      refreshed: boolean
    }
  /** `unavailable`: the rows could not be read or written. */
  | { ok: false; why: 'gone' | 'no_refresh_token' | 'busy' | 'unavailable' }
  | { ok: false; why: 'failed' | 'connect_error'; answer: Exclude<TokenAnswer, { ok: true }> }

export type RefreshDeps = {
  rows: OAuthRows
  clock: Clock
  /** Also reads the secret of a client from a secret manager. What is stored anew is not read by it. */
  open: CredentialOpener['all']
  ask: (request: TokenRequest) => Promise<TokenAnswer>
  /** Called for each attempt that gave no token. */
  report: (row: OAuthRow, result: Exclude<RefreshOutcome, { ok: true }>) => void
  /** Called when an attempt could not be made. */
  fail: (error: unknown) => void
}

export type Refresh = ReturnType<typeof createRefresh>

export function createRefresh({ rows, clock, open, ask, report, fail }: RefreshDeps) {
  const underWay = new Map<string, Promise<RefreshOutcome>>()
  /** Failures by credential and revision. */
  const failures = new Map<string, { until: number; result: RefreshOutcome; isRefused: boolean }>()
  const stopped = new AbortController()
  /** Issued tokens that are not on disk, by credential. */
  const issued = new Map<string, IssuedTokens>()

  /** Calls of this process for the same credential share one attempt. */
  function renew(row: OAuthRow, token: string): Promise<RefreshOutcome> {
    const key = `${row.tenant_id}/${row.id}`
    const current = underWay.get(key)
    if (current) {
      return current.then((result) => {
        if (!result.ok) return result
        return result.token === token ? renew(row, token) : { ...result, refreshed: false }
      })
    }
    const fresh = attempt(row, token)
      .catch((error: unknown): RefreshOutcome => {
        fail(error)
        return { ok: false, why: 'unavailable' }
      })
      .finally(() => underWay.delete(key))
    underWay.set(key, fresh)
    return fresh
  }

  async function attempt({ tenant_id, id }: OAuthRow, token: string): Promise<RefreshOutcome> {
    const until = clock.now() + leaseMs * 2
    for (;;) {
      const row = await rows.read(tenant_id, id)
      if (!row) return { ok: false, why: 'gone' }
      const auth = rows.open(row)
      if (auth.access_token !== token) {
        return { ok: true, token: auth.access_token, refreshed: false }
      }
      if (!auth.refresh_token || !row.auth.refresh) return { ok: false, why: 'no_refresh_token' }
      const known = failureOf(row)
      if (known?.isRefused) return known.result
      const lease = await rows.lease(row)
      if (await lease.claim(clock.now(), leaseMs)) return refreshUnder(lease, row)
      if (clock.now() >= until || stopped.signal.aborted) return { ok: false, why: 'busy' }
      await clock.sleep(pollMs, stopped.signal)
    }
  }

  /** Reads the row again, because another process may have changed it under its lease. */
  async function refreshUnder(lease: RowLease, seen: OAuthRow): Promise<RefreshOutcome> {
    try {
      const row = await rows.read(seen.tenant_id, seen.id)
      if (!row) return { ok: false, why: 'gone' }
      const auth = rows.open(row)
      const before = rows.open(seen).access_token
      if (auth.access_token !== before) {
        return { ok: true, token: auth.access_token, refreshed: false }
      }
      const result = await refreshTokens({ rows: { ...rows, store }, open, ask, issued }, row, auth)
      if (!result.ok) remember(row, result)
      return result
    } finally {
      // The lease expires by itself if this fails.
      await lease.release().catch(fail)
    }
  }

  /** Repeats the write while the lease lasts. */
  async function store(...change: Parameters<OAuthRows['store']>): Promise<boolean> {
    const until = clock.now() + leaseMs
    for (;;) {
      try {
        return await rows.store(...change)
      } catch (error) {
        if (clock.now() >= until || stopped.signal.aborted) throw error
      }
      await clock.sleep(storeAgainMs, stopped.signal)
    }
  }

  function remember(row: OAuthRow, result: Exclude<RefreshOutcome, { ok: true }>): void {
    report(row, result)
    if (failures.size > 1000) failures.clear()
    const isRefused = result.why === 'failed' && result.answer.isRefused
    const until = clock.now() + (isRefused ? refusedMs : pauseMs)
    failures.set(keyOf(row), { until, result, isRefused })
  }

  function failureOf(row: OAuthRow) {
    const known = failures.get(keyOf(row))
    return known && known.until > clock.now() ? known : undefined
  }

  return {
    async ahead(row: OAuthRow, token: string): Promise<TokenAhead> {
      const left = row.auth.expires_at ? Date.parse(row.auth.expires_at) - clock.now() : Infinity
      const asIs = { token, refreshed: false, tried: false }
      if (left > aheadMs || !row.auth.refresh) return asIs
      if (left > 0) {
        if (!failureOf(row)) void renew(row, token)
        return asIs
      }
      const result = await renew(row, token)
      return { ...(result.ok ? result : asIs), tried: true }
    },
    after: renew,
    /** Resolves when no refresh runs. */
    async settled(): Promise<void> {
      stopped.abort()
      await Promise.allSettled([...underWay.values()])
    },
  }
}

const keyOf = (row: OAuthRow): string => `${row.tenant_id}/${row.id}/${row.revision}`

/** `from`: the refresh token that these tokens were issued for. */
type IssuedTokens = {
  /** SECRET: never logged; so are the two tokens. */
  from: string
  access_token: string
  refresh_token: string | null
  expires_at: string | null
}
type RefreshContext = {
  rows: OAuthRows
  open: RefreshDeps['open']
  ask: RefreshDeps['ask']
  issued: Map<string, IssuedTokens>
}

/** Requests new tokens, unless issued tokens still wait to be written, and stores them. */
async function refreshTokens(
  context: RefreshContext,
  row: OAuthRow,
  auth: OAuthSecrets,
): Promise<RefreshOutcome> {
  const key = `${row.tenant_id}/${row.id}`
  let fresh = context.issued.get(key)
  if (fresh === undefined || fresh.from !== auth.refresh_token) {
    const answer = await requestTokens(context, row, auth)
    if ('why' in answer) return answer
    fresh = answer
    context.issued.set(key, fresh)
  }
  const { access_token, refresh_token, expires_at } = fresh
  const next: OAuthSecrets = { ...auth, access_token, ...(refresh_token ? { refresh_token } : {}) }
  const result = await storeTokens(context.rows, row, auth, { next, expiresAt: expires_at })
  context.issued.delete(key)
  return result
}

async function requestTokens(
  { ask, open }: RefreshContext,
  row: OAuthRow,
  auth: OAuthSecrets,
): Promise<IssuedTokens | Exclude<RefreshOutcome, { ok: true }>> {
  const { refresh } = row.auth
  if (!refresh || !auth.refresh_token) return { ok: false, why: 'no_refresh_token' }
  const client = await clientSecret(open, row)
  if ('why' in client) return client
  const answer = await ask({
    token_endpoint: refresh.token_endpoint,
    client_id: refresh.client_id,
    client_secret: client.secret,
    authentication: refresh.token_endpoint_auth.type,
    refresh_token: auth.refresh_token,
    resource: refresh.resource ?? null,
    scope: refresh.scope ?? null,
  })
  if (!answer.ok) {
    return { ok: false, why: answer.status === null ? 'connect_error' : 'failed', answer }
  }
  return { ...answer, from: auth.refresh_token }
}

/** A secret manager that is away counts as a token endpoint that is away. */
async function clientSecret(
  open: RefreshDeps['open'],
  row: OAuthRow,
): Promise<{ secret: string | null } | Exclude<RefreshOutcome, { ok: true }>> {
  try {
    return { secret: (await open(row, null)).client_secret ?? null }
  } catch (error) {
    if (!(error instanceof UnreadableSecretError)) throw error
    const answer = { ok: false, status: null, message: error.message, isRefused: false } as const
    return { ok: false, why: 'connect_error', answer }
  }
}

/**
 * Stores the new tokens in a row that changed meanwhile. When the change concerns the tokens, the stored tokens win.
 */
async function storeTokens(
  rows: OAuthRows,
  row: OAuthRow,
  previous: OAuthSecrets,
  { next, expiresAt }: { next: OAuthSecrets; expiresAt: string | null },
): Promise<RefreshOutcome> {
  if (await rows.store(row, next, expiresAt)) {
    return { ok: true, token: next.access_token, refreshed: true }
  }
  const live = await rows.read(row.tenant_id, row.id)
  if (!live) return { ok: false, why: 'gone' }
  const auth = rows.open(live)
  const isSame =
    auth.access_token === previous.access_token && auth.refresh_token === previous.refresh_token
  if (!isSame) return { ok: true, token: auth.access_token, refreshed: false }
  const { access_token, refresh_token } = next
  const changed = { ...auth, access_token, ...(refresh_token ? { refresh_token } : {}) }
  return storeTokens(rows, live, auth, { next: changed, expiresAt })
}
