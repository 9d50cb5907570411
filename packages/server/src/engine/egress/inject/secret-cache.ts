/** Keeps secrets that calls have opened, and the masks of their answers, for a while, because calls come in series. */
import type { Clock } from '@steward/base/time.ts'
import { createMemo } from '@steward/base/memo.ts'
import type { Mask } from '@steward/mask/mask.ts'
import { createMask } from '@steward/mask/mask.ts'
import type { Seal } from '../../../ground/core/security/seal.ts'
import { withMemo } from '../../../ground/core/security/seal.ts'
import { repositoryTokenContext } from '../../../sessions/rows/resources.ts'
import type { RepositoryToken } from '../policy/repository.ts'

/**
 * A mask takes up to 3 KB for each character of its secrets. A mask may be created when its secret is about to expire,
 * and stays for twice its own time. Together that is a minute at most, as docs/security.md promises.
 */
const openedLimits = { keepMs: 20_000, mostCharacters: 1024 * 1024 }
const maskLimits = { keepMs: 20_000, mostCharacters: 8 * 1024 }

/** Opens the secrets of calls and creates the masks of their answers. Keeps both for a minute at most. */
export function secretCache(sealed: Seal, clock: Clock) {
  const opened = createMemo<string>({ clock, ...openedLimits })
  const masks = createMemo<Mask | undefined>({ clock, ...maskLimits })
  const seal = withMemo(sealed, opened)
  return {
    seal,
    openToken: ({ tenant_id, id, sealed_token }: RepositoryToken) =>
      seal.open(sealed_token, repositoryTokenContext(tenant_id, id)),
    maskOf: (secrets: readonly string[]) =>
      masks.of(JSON.stringify(secrets), () => createMask(secrets)),
    close(): void {
      opened.close()
      masks.close()
    },
  }
}
