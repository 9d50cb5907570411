/** Signs the head of a chain: an attacker who can write the database and lacks the root secret cannot forge a head. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Queries } from '../../ground/database/database.ts'
import { trailStore } from './trails/store.ts'
import type { ChainHead } from './trails/trails.ts'

/** The key of the root secret, then the key of the previous one. */
export type AuditKeys = readonly [Buffer, ...Buffer[]]

type UnsignedHead = Omit<ChainHead, 'signature'>

function signatureBy(key: Buffer, head: UnsignedHead): string {
  const { tenant_id, trail, seq, hash, first_seq, first_previous_hash, begun_at, updated_at } = head
  const values = [
    ...[tenant_id, trail, seq, hash],
    ...[first_seq, first_previous_hash, begun_at, updated_at],
  ]
  return createHmac('sha256', key).update(JSON.stringify(values)).digest('hex')
}

export const signedHead = ([key]: AuditKeys, head: UnsignedHead): ChainHead => ({
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

/** Signs heads under the newest key after a change of the root secret. A forged head stays as it is. */
export async function signHeadsAnew(tx: Queries, keys: AuditKeys): Promise<number> {
  const store = trailStore(tx)
  const heads = (await store.heads()).filter((head) => isSigned(keys, head))
  for (const head of heads) {
    const { signature: _, ...unsigned } = head
    await store.sign(head, signedHead(keys, unsigned).signature)
  }
  return heads.length
}
