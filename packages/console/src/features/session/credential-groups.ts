/** Calls that carried a credential, counted by credential and host. */
import type { CredentialUse } from '../../lib/api/types.ts'

type UseGroup = {
  key: string
  last: CredentialUse
  /** Of the newest call that has an answer: a call that listens has none while it goes on. */
  status: number | null
  calls: number
}

/** `uses`: the newest first. The group that was used last comes first. */
export function groupsOf(uses: readonly CredentialUse[]): UseGroup[] {
  const groups = new Map<string, UseGroup>()
  for (const use of uses) {
    const key = `${use.credential_id} ${use.host}`
    const known = groups.get(key)
    if (known) {
      known.calls++
      known.status ??= use.status
    } else groups.set(key, { key, last: use, status: use.status, calls: 1 })
  }
  return [...groups.values()]
}
