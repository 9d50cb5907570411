/**
 * A change that sends a stored secret to a new destination could read the secret back. Two kinds of callers may make
 * it: a caller that gives the secret again in the same request, and a workspace admin, on record. Each resource with a
 * secret reports its changes of this kind here. A change that narrows the destinations needs no check.
 */
import { forbidden } from '../errors.ts'

export type NewDestination = {
  /** The field whose change lets the secret go further. */
  field: string
  /** The secrets that the request does not give again, by their fields. */
  secrets: readonly string[]
}

/** Returns true when the change of an admin must be recorded. Throws `forbidden`, which names the fields. */
export function admitDestinations(found: readonly NewDestination[], isAdmin: boolean): boolean {
  const [first] = found
  if (first === undefined) return false
  if (isAdmin) return true
  throw forbidden(
    `${first.field}: the stored secret would go where it did not go before: give ${first.secrets.join(' and ')} again in the same request, or use a workspace-admin key`,
  )
}
