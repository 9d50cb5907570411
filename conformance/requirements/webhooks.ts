// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const webhooks = {
  'webhooks/signed': { section: '18 Webhooks', says: 'It is signed after Standard Webhooks; the receiver verifies and then polls.', deferred: 'D' },
  'webhooks/payload': { section: '18 Webhooks', says: 'It carries the session\'s id and the workspace\'s, and nothing of the work.', deferred: 'D' },
  'webhooks/attempts': { section: '18 Webhooks', says: 'There are at most three attempts.', deferred: 'D' },
  'webhooks/attempt-stable': { section: '18 Webhooks', says: 'Event id and body stay the same over the attempts; time and signature are new each time.', deferred: 'D' },
  'webhooks/backoff': { section: '18 Webhooks', says: 'Attempts are 5 to 120 seconds apart, growing exponentially with jitter.', deferred: 'D' },
  'webhooks/redirect': { section: '18 Webhooks', says: 'A redirect is not tried again and disables delivery at once.', deferred: 'D' },
  'webhooks/non-2xx': { section: '18 Webhooks', says: 'Any other answer outside 2xx uses up one attempt.', deferred: 'D' },
  'webhooks/harmless': { section: '18 Webhooks', says: 'A webhook that is lost, doubled, late or out of order does no harm.', deferred: 'D' },
} satisfies Record<string, Requirement>
