/** Secrets that calls have opened, and the masks of their answers: kept for a while, as calls come one after another. */
import type { Clock } from '@steward/base/time.ts'
import { createMemo } from '@steward/base/memo.ts'
import type { Mask } from '@steward/mask/mask.ts'
import { maskOf } from '@steward/mask/mask.ts'
import type { Seal } from '../../../ground/core/seal.ts'
import { withMemo } from '../../../ground/core/seal.ts'
import { repositoryTokenPlace } from '../../../sessions/rows/resources.ts'
import type { RepositoryToken } from '../policy/repository.ts'

/**
 * A mask takes up to 3 KB for each character of its secrets. It may be made at the end of the time of a secret, and stays for twice its own:
 * a minute in all, which docs/security.md promises.
 */
const openedLimits = { keepMs: 20_000, mostCharacters: 1024 * 1024 }
const maskLimits = { keepMs: 20_000, mostCharacters: 8 * 1024 }

/** Opens what a call needs, and makes the masks of its answers; keeps both for a minute at most. */
export function openedSecrets(sealed: Seal, clock: Clock) {
  const opened = createMemo<string>({ clock, ...openedLimits })
  const masks = createMemo<Mask | undefined>({ clock, ...maskLimits })
  const seal = withMemo(sealed, opened)
  return {
    seal,
    openToken: ({ tenant_id, id, sealed_token }: RepositoryToken) =>
      seal.open(sealed_token, repositoryTokenPlace(tenant_id, id)),
    maskOf: (secrets: readonly string[]) =>
      masks.of(JSON.stringify(secrets), () => maskOf(secrets)),
    close(): void {
      opened.close()
      masks.close()
    },
  }
}
