import { useQuery } from '@tanstack/react-query'
import { environmentChoices } from '../../lib/api/choices.ts'
import type { ApiKey } from '../../lib/api/types.ts'
import { shortId } from '../../lib/format/ids.ts'
import { keyWords as own } from './words.ts'

/** What a key may, in words. */
export function RightsOf({ of: key }: { of: ApiKey }) {
  const { data: environments } = useQuery(environmentChoices)
  if (key.kind === 'oauth') return own.shownRights.login
  if (key.environment_id === null) {
    if (key.read_only) return own.shownRights.reads
    return key.admin ? own.shownRights.admin : own.shownRights.member
  }
  const found = environments?.find(({ id }) => id === key.environment_id)
  const name = found?.name ?? shortId(key.environment_id)
  return own.shownRights[key.reach ?? 'work'](name)
}
