/** Recomputes chains and reports the first damaged line of each. */
import type { Database, OpenDatabases, Reads } from '../../ground/database/database.ts'
import { readDatabaseShape } from '../../ground/database/per-tenant/database-shape.ts'
import { tenantDatabaseStore } from '../../ground/database/per-tenant/tenant-databases.ts'
import { throwFailures } from '../../ground/core/failures.ts'
import type { AuditKeys } from './heads.ts'
import { isSigned } from './heads.ts'
import { lineStore } from './store.ts'
import { trailStore } from './trails/store.ts'
import type { ChainHead, Trail, TrailRow } from './trails/trails.ts'
import { hashCanonical, trailsOf } from './trails/trails.ts'

const linesAtOnce = 1_000

/**
 * `changed`: other content, or a number far from its own. `moved`: swapped with its neighbour. `removed`: a number is
 * missing. `inserted`: a line was added after the chaining. `cut`: lines are missing at the end. `forged`: this
 * deployment did not sign the head. `headless`: lines have numbers and no head exists. `unanchored`: the chain does
 * not hold an anchor that an earlier verification reported.
 */
export type Damage = {
  kind: 'changed' | 'moved' | 'removed' | 'inserted' | 'cut' | 'forged' | 'headless' | 'unanchored'
  seq: number
  id: string | null
}

export type TrailVerdict = {
  workspace_id: string | null
  trail: Trail
  ok: boolean
  lines: number
  /** Number of committed lines that are not chained yet. */
  unchained: number
  first_seq: number | null
  last_seq: number | null
  hash: string | null
  damage: Damage | null
}

/** The head of a chain as an earlier `verify` reported it, stored out of reach of an attacker. */
export type Anchor = { workspace_id: string | null; trail: string; last_seq: number; hash: string }

async function* linesOf(
  db: Reads,
  tenant: string,
  trail: Trail,
  most = Number.MAX_SAFE_INTEGER,
): AsyncGenerator<TrailRow> {
  for (let [seq, id, isMore] = [0, '', true]; isMore;) {
    const rows = await trailStore(db).chained(tenant, trail, { seq, id, most, limit: linesAtOnce })
    yield* rows
    const last = rows.at(-1)
    isMore = rows.length === linesAtOnce
    if (last) [seq, id] = [Number(last.seq), last.id]
  }
}

type ChainWalk = { damage: Damage | null; lines: number; anchors: Map<number, string> }

/** Reads lines in order and compares each hash with the recomputed one. Returns the hashes at the `wanted` numbers. */
async function walkChain(
  lines: AsyncGenerator<TrailRow>,
  { head, tenant, trail }: { head: ChainHead; tenant: string; trail: Trail },
  wanted: ReadonlySet<number>,
): Promise<ChainWalk> {
  const anchors = new Map<number, string>()
  let previous = head.first_previous_hash
  let seq = head.first_seq
  let count = 0
  let suspect: TrailRow | undefined
  const isAt = (row: TrailRow, at: number) =>
    row.hash === hashCanonical(trail, tenant, row, { seq: at, previous })
  const end = (kind: Damage['kind'], at: number, id: string | null): ChainWalk => ({
    damage: { kind, seq: at, id },
    lines: count,
    anchors,
  })
  for await (const row of lines) {
    const number = Number(row.seq)
    if (suspect) {
      const isNext = isAt(row, seq)
      const behind = { seq: seq + 1, previous: row.hash ?? '' }
      const isMoved = isNext && suspect.hash === hashCanonical(trail, tenant, suspect, behind)
      const kind = isMoved ? 'moved' : isNext ? 'inserted' : 'changed'
      return end(kind, Number(suspect.seq), suspect.id)
    }
    if (number > seq) return end('removed', seq, null)
    if (number < seq) return end('inserted', number, row.id)
    count++
    if (!isAt(row, seq)) {
      suspect = row
      continue
    }
    previous = row.hash ?? ''
    if (wanted.has(seq)) anchors.set(seq, previous)
    seq++
  }
  if (suspect) return end('changed', Number(suspect.seq), suspect.id)
  if (seq <= head.seq) return end('cut', seq, null)
  if (previous !== head.hash) return end('changed', head.seq, null)
  return { damage: null, lines: count, anchors }
}

type Chain = { keys: AuditKeys; tenant: string; trail: Trail; anchors: readonly Anchor[] }

async function verifyTrail(db: Reads, chain: Chain): Promise<TrailVerdict> {
  const { tenant, trail } = chain
  const head = await trailStore(db).head(tenant, trail)
  const { damage, lines } = head
    ? await damageOf(db, head, chain)
    : { damage: await headlessDamage(db, chain), lines: 0 }
  return {
    workspace_id: tenant || null,
    trail,
    ok: damage === null,
    lines,
    unchained: await trailStore(db).countUnchained(tenant, trail),
    first_seq: head?.first_seq ?? null,
    last_seq: head?.seq ?? null,
    hash: head?.hash ?? null,
    damage,
  }
}

async function headlessDamage(
  db: Reads,
  { tenant, trail, anchors }: Chain,
): Promise<Damage | null> {
  const { value } = await linesOf(db, tenant, trail).next()
  if (value) return { kind: 'headless', seq: Number(value.seq), id: value.id }
  const [anchor] = anchors
  return anchor ? { kind: 'unanchored', seq: anchor.last_seq, id: null } : null
}

async function damageOf(
  db: Reads,
  head: ChainHead,
  chain: Chain,
): Promise<{ damage: Damage | null; lines: number }> {
  const { keys, tenant, trail, anchors } = chain
  if (!isSigned(keys, head))
    return { damage: { kind: 'forged', seq: head.seq, id: null }, lines: 0 }
  const wanted = new Set(anchors.map(({ last_seq: seq }) => seq))
  const found = await walkChain(
    linesOf(db, tenant, trail, head.seq),
    { head, tenant, trail },
    wanted,
  )
  if (found.damage) {
    const now = await trailStore(db).head(tenant, trail)
    // Retention removed the oldest lines meanwhile: start again from the new head.
    if (now && now.first_seq !== head.first_seq && isSigned(keys, now))
      return damageOf(db, now, chain)
    return found
  }
  const broken = anchors.find(
    ({ last_seq: seq, hash }) => seq >= head.first_seq && found.anchors.get(seq) !== hash,
  )
  if (broken) return { ...found, damage: { kind: 'unanchored', seq: broken.last_seq, id: null } }
  return { ...found, damage: await strayLine(db, head, chain) }
}

/** Finds a line with a number beyond the head, or a line that claims to be older than the chain and is not. */
async function strayLine(
  db: Reads,
  head: ChainHead,
  { tenant, trail }: Chain,
): Promise<Damage | null> {
  const store = trailStore(db)
  const newest = await store.newest(tenant, trail)
  // Read the head after the lines: one commit writes both.
  const now = (await store.head(tenant, trail)) ?? head
  if (newest && Number(newest.seq) > now.seq)
    return { kind: 'inserted', seq: Number(newest.seq), id: newest.id }
  const older = await store.misdated(tenant, trail, head.begun_at)
  return older ? { kind: 'inserted', seq: Number(older.seq), id: older.id } : null
}

type VerifyOptions = {
  keys: AuditKeys
  tenant: string | undefined
  anchors?: readonly Anchor[]
}

/** Verifies all chains, or the chains of one tenant. Lines that are written meanwhile are not verified. */
export async function* verifyChains(
  databases: OpenDatabases,
  { keys, tenant, anchors = [] }: VerifyOptions,
): AsyncGenerator<TrailVerdict> {
  const { control } = databases
  const tenants = tenant === undefined ? await chainedTenants(control, anchors) : [tenant]
  const failures: unknown[] = []
  for (const each of tenants) {
    try {
      const { read } = each === '' ? control : await databases.open(each)
      for (const trail of trailsOf(each)) {
        const own = anchors.filter(
          (one) => (one.workspace_id ?? '') === each && one.trail === trail,
        )
        yield await verifyTrail(read, { keys, tenant: each, trail, anchors: own })
      }
    } catch (error) {
      failures.push(
        new Error(`the chains of ${each || 'the deployment'} cannot be read`, { cause: error }),
      )
    }
  }
  throwFailures(failures)
}

/**
 * Tenants that can have chains. Chains are deleted with their workspace. With a database for each tenant, an unused
 * workspace has neither database nor chain, unless an anchor shows that an earlier verification saw one.
 */
async function chainedTenants(control: Database, anchors: readonly Anchor[]): Promise<string[]> {
  const tenants = await lineStore(control.read).tenants()
  if ((await readDatabaseShape(control)) !== 'tenants') return ['', ...tenants]
  const made = new Set<string | null>(await tenantDatabaseStore(control.read).all())
  for (const { workspace_id: id } of anchors) made.add(id)
  return ['', ...tenants.filter((tenant) => made.has(tenant))]
}
