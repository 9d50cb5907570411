/**
 * Who may send a stored secret to a place where it did not go before: whoever has the secret, and shows it by giving it
 * again in the same request; and a workspace admin, on record. Anybody else could read a secret back by it. Each
 * resource that keeps a secret tells here which changes of its fields are of that kind; to narrow is free.
 */
import { forbidden } from './errors.ts'

export type NewDestination = {
  /** The field whose change lets the secret go further. */
  field: string
  /** The secrets that the request does not give again, by their fields. */
  secrets: readonly string[]
}

/** Returns whether an admin's change goes on record. Throws `forbidden`, which names the fields. */
export function admitDestinations(found: readonly NewDestination[], isAdmin: boolean): boolean {
  const [first] = found
  if (first === undefined) return false
  if (isAdmin) return true
  throw forbidden(
    `${first.field}: the stored secret would go where it did not go before: give ${first.secrets.join(' and ')} again in the same request, or use a workspace-admin key`,
  )
}
