/** The head of a chain, signed: whoever can write the database and does not know the root secret cannot make another. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Queries } from '../../ground/database/database.ts'
import { trailStore } from './trails/store.ts'
import type { ChainHead } from './trails/trails.ts'

/** Of the root secret, and of the one before it. */
export type AuditKeys = readonly [Buffer, ...Buffer[]]

type Unsigned = Omit<ChainHead, 'signature'>

function signatureBy(key: Buffer, head: Unsigned): string {
  const { tenant_id, trail, seq, hash, first_seq, first_previous_hash, begun_at, updated_at } = head
  const values = [
    ...[tenant_id, trail, seq, hash],
    ...[first_seq, first_previous_hash, begun_at, updated_at],
  ]
  return createHmac('sha256', key).update(JSON.stringify(values)).digest('hex')
}

export const signedHead = ([key]: AuditKeys, head: Unsigned): ChainHead => ({
  ...head,
  signature: signatureBy(key, head),
})

export function isSigned(keys: AuditKeys, { signature, ...head }: ChainHead): boolean {
  const given = Buffer.from(signature)
  return keys.some((key) => {
    const expected = Buffer.from(signatureBy(key, head))
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/** Under the newest key, after a change of the root secret. A head that no key has signed stays as it is. */
export async function signHeadsAnew(tx: Queries, keys: AuditKeys): Promise<number> {
  const store = trailStore(tx)
  const heads = (await store.heads()).filter((head) => isSigned(keys, head))
  for (const head of heads) {
    const { signature: _, ...unsigned } = head
    await store.sign(head, signedHead(keys, unsigned).signature)
  }
  return heads.length
}
