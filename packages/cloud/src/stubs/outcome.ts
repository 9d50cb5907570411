/** For tests: the credential of an outcome that must be one. */
import assert from 'node:assert/strict'
import type { CloudOutcome } from '../identity.ts'

export function given<Credential>(outcome: CloudOutcome<Credential>): Credential {
  assert.ok(outcome.ok, JSON.stringify(outcome))
  return outcome.credential
}
