import { api, dataOf } from '../../lib/api/client.ts'
import type { WorkspaceRateLimit } from '../../lib/api/types.ts'
import { formatCount } from '../../lib/format/numbers.ts'
import { wholeOf } from '../../lib/format/typed.ts'
import type { LimitEdit } from './limits.ts'
import { limitWords as words } from './words.ts'

const own = words.rates

export type HeldRate = WorkspaceRateLimit['limits'][number]

/** What holds is the lower one. */
export const rateOf = ({ type, value, org_limit: most }: HeldRate): string =>
  `${formatCount(Math.min(value, most))} ${own.units[type]}`

export const mostOf = ({ type, org_limit: most }: HeldRate): string =>
  `${formatCount(most)} ${own.units[type]}`

export const rateEdit = (limit: WorkspaceRateLimit, rate: HeldRate): LimitEdit => {
  const { rate_limit_id: id, workspace_id: workspace, group } = limit
  const { type, value, source } = rate
  const isOwn = source.type === 'workspace'
  return {
    name: own.names[group.type],
    text: own.text,
    label: own.label,
    unit: own.units[type],
    allowed: words.allowed(mostOf(rate)),
    now: isOwn ? String(value) : '',
    isOwn,
    read: wholeOf,
    wrong: words.wrongNumber,
    call: (typed) => ({
      method: 'POST',
      path: `/v1/organizations/workspaces/${workspace}/rate_limits/${id}`,
      body: { limits: [{ type, value: typed }] },
    }),
    save: (typed) =>
      dataOf(
        api.POST('/v1/organizations/workspaces/{id}/rate_limits/{rate_limit_id}', {
          params: { path: { id: workspace, rate_limit_id: id } },
          body: { limits: [{ type, value: typed }] },
        }),
      ),
  }
}
