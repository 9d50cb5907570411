/** The token of an installation. It is stored sealed, and one process at a time renews it. */
import { parseObject } from '@steward/base/json-object.ts'
import { iso } from '@steward/base/time.ts'
import type { Seal } from '../../../ground/core/security/seal.ts'
import type { Database, Queries } from '../../../ground/database/database.ts'
import { rowLease } from '../../../ground/database/row-lease.ts'
import type { Ground } from '../../../ground/ground.ts'
import type { AppToken, AppTokens } from './app.ts'
import type { Apps } from './apps.ts'
import { getApp } from './apps.ts'
import type { Send } from '../answers/send.ts'
import type { InstallationRow } from '../store.ts'
import { installationTokenContext, integrationStore } from '../store.ts'
import { notifyOfTokens } from '../topics.ts'
import { rows } from '../../../ground/database/rows.ts'

/** Longer than one exchange with a provider. */
const leaseMs = 60_000

export const sealTokens = (
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  tokens: AppTokens,
) => ({
  tokens: seal.seal(JSON.stringify(tokens), installationTokenContext(tenant, id, 'tokens')),
})

export function openTokens(
  seal: Seal,
  { tenant_id, id, sealed_tokens }: InstallationRow,
): AppTokens | null {
  if (!sealed_tokens) return null
  const text = seal.open(sealed_tokens.tokens, installationTokenContext(tenant_id, id, 'tokens'))
  const { access, refresh, expiresMs } = parseObject(text)
  return {
    ...(typeof access === 'string' && { access }),
    ...(typeof refresh === 'string' && { refresh }),
    ...(typeof expiresMs === 'number' && { expiresMs }),
  }
}

export type TokenDeps = Ground & { apps: Apps; sendToProvider: Send }

/** `held`: another process is renewing the token. */
export type FoundToken = AppToken | { kind: 'held' }

/**
 * The stored or renewed token of the installation. `refused`: a stored token that the provider does not take any more. After a refusal the installation waits until somebody installs the
 * app again.
 */
export async function findInstallationToken(
  { seal, clock, apps, sendToProvider: send }: TokenDeps,
  db: Database,
  row: InstallationRow,
  { signal, refused }: { signal: AbortSignal; refused?: string | undefined },
): Promise<FoundToken> {
  const { tenant_id: tenant, id } = row
  const known = keptIn(openTokens(seal, row), clock.now(), refused)
  if (known) return known
  const held = rowLease(db, 'installations', { tenant_id: tenant, id })
  // A renewal ends the old token, so a second concurrent renewal would be refused.
  if (!(await held.claim(clock.now(), leaseMs))) return { kind: 'held' }
  try {
    const current = await rows(db.read, 'installations').find(tenant, id)
    if (current?.status !== 'active') return { kind: 'refused' }
    const tokens = openTokens(seal, current)
    const renewed = keptIn(tokens, clock.now(), refused)
    if (renewed) return renewed
    const provider = { send, signal, nowMs: clock.now() }
    const token = await getApp(apps, row.integration).newToken(row.external_id, tokens, provider)
    if (token.kind === 'refused') await needReauth(db, row, clock.now())
    if (token.kind === 'token' && token.tokens) {
      const sealed_tokens = sealTokens(seal, { tenant, id }, token.tokens)
      await change(db, row, async (tx, kept) => {
        await rows(tx, 'installations').update(kept, { sealed_tokens })
        // The provider may end the older token at once, so vaults with this token are renewed soon.
        await integrationStore(tx).hurryTokens(tenant, id, clock.now())
        notifyOfTokens(tx)
      })
    }
    return token
  } finally {
    await held.release()
  }
}

function keptIn(
  tokens: AppTokens | null,
  nowMs: number,
  refused: string | undefined,
): AppToken | undefined {
  const { access, expiresMs = Infinity } = tokens ?? {}
  return access !== undefined && access !== refused && expiresMs > nowMs
    ? { kind: 'token', token: access, ...(expiresMs !== Infinity && { expiresMs }) }
    : undefined
}

/** Changes the installation, unless it has ended meanwhile. */
const change = (
  db: Database,
  { tenant_id: tenant, id }: InstallationRow,
  changing: (tx: Queries, kept: InstallationRow) => Promise<unknown>,
): Promise<void> =>
  db.write(async (tx) => {
    const kept = await rows(tx, 'installations').findForUpdate(tenant, id)
    if (kept?.status === 'active') await changing(tx, kept)
  })

const needReauth = (db: Database, row: InstallationRow, now: number): Promise<void> =>
  change(db, row, async (tx, kept) => {
    const updated_at = iso(now)
    await integrationStore(tx).stopPublications(row.tenant_id, row.id, updated_at)
    await rows(tx, 'installations').update(kept, { status: 'needs_reauth', updated_at })
  })
