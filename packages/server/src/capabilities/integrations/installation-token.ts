/** The token of an installation for its provider's interface: sealed, and renewed by one process at a time. */
import { parseObject } from '@steward/base/json-object.ts'
import type { Clock } from '@steward/base/time.ts'
import { iso } from '@steward/base/time.ts'
import type { Seal } from '../../ground/core/seal.ts'
import type { Database, Queries } from '../../ground/database/database.ts'
import { rowLease } from '../../ground/database/row-lease.ts'
import type { AppToken, AppTokens } from './app.ts'
import type { Apps } from './apps.ts'
import { appOf } from './apps.ts'
import type { Send } from './send.ts'
import type { InstallationRow } from './store.ts'
import { installationTokenPlace, integrationStore } from './store.ts'

/** Longer than one exchange with a provider takes. */
const leaseMs = 60_000

export const sealTokens = (
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  tokens: AppTokens,
) => ({
  tokens: seal.seal(JSON.stringify(tokens), installationTokenPlace(tenant, id, 'tokens')),
})

export function tokensOf(
  seal: Seal,
  { tenant_id, id, sealed_tokens }: InstallationRow,
): AppTokens | null {
  if (!sealed_tokens) return null
  const text = seal.open(sealed_tokens.tokens, installationTokenPlace(tenant_id, id, 'tokens'))
  const { access, refresh, expiresMs } = parseObject(text)
  return {
    ...(typeof access === 'string' && { access }),
    ...(typeof refresh === 'string' && { refresh }),
    ...(typeof expiresMs === 'number' && { expiresMs }),
  }
}

type TokenDeps = { seal: Seal; clock: Clock; apps: Apps; sendToProvider: Send }

/** `held`: another asks for a new one at this moment. */
export type FoundToken = AppToken | { kind: 'held' }

/** After a refusal the installation waits for somebody to install the app again. */
export async function tokenOf(
  { seal, clock, apps, sendToProvider: send }: TokenDeps,
  db: Database,
  row: InstallationRow,
  signal: AbortSignal,
): Promise<FoundToken> {
  const { tenant_id: tenant, id } = row
  const known = keptIn(tokensOf(seal, row), clock.now())
  if (known) return known
  const held = rowLease(db, 'installations', { tenant_id: tenant, id })
  // A renewal ends the token by which it is asked for, so that a second one would be refused.
  if (!(await held.claim(clock.now(), leaseMs))) return { kind: 'held' }
  try {
    const current = await integrationStore(db.read).installation(tenant, id)
    if (current?.status !== 'active') return { kind: 'refused' }
    const tokens = tokensOf(seal, current)
    const renewed = keptIn(tokens, clock.now())
    if (renewed) return renewed
    const outside = { send, signal, nowMs: clock.now() }
    const token = await appOf(apps, row.integration).newToken(row.external_id, tokens, outside)
    if (token.kind === 'refused') await needReauth(db, row, clock.now())
    if (token.kind === 'token' && token.tokens) {
      const sealed_tokens = sealTokens(seal, { tenant, id }, token.tokens)
      await change(db, row, async (tx, kept) => {
        await integrationStore(tx).updateInstallation(kept, { sealed_tokens })
        // A provider may end the older token at once.
        await integrationStore(tx).hurryTokens(tenant, id, clock.now())
      })
    }
    return token
  } finally {
    await held.release()
  }
}

function keptIn(tokens: AppTokens | null, nowMs: number): AppToken | undefined {
  const { access, expiresMs = Infinity } = tokens ?? {}
  return access !== undefined && expiresMs > nowMs
    ? { kind: 'token', token: access, ...(expiresMs !== Infinity && { expiresMs }) }
    : undefined
}

/** One that was ended meanwhile stays as it is. */
const change = (
  db: Database,
  { tenant_id: tenant, id }: InstallationRow,
  changing: (tx: Queries, kept: InstallationRow) => Promise<unknown>,
): Promise<void> =>
  db.write(async (tx) => {
    const kept = await integrationStore(tx).takeInstallation(tenant, id)
    if (kept?.status === 'active') await changing(tx, kept)
  })

const needReauth = (db: Database, row: InstallationRow, now: number): Promise<void> =>
  change(db, row, async (tx, kept) => {
    const updated_at = iso(now)
    await integrationStore(tx).stopPublications(row.tenant_id, row.id, updated_at)
    await integrationStore(tx).updateInstallation(kept, { status: 'needs_reauth', updated_at })
  })
