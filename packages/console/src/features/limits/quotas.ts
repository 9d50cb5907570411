import { api, dataOf } from '../../lib/api/client.ts'
import type { Quota } from '../../lib/api/types.ts'
import { formatBytes, formatCount } from '../../lib/format/numbers.ts'
import { bytesOf, mebibytesOf, wholeOf } from '../../lib/format/typed.ts'
import type { LimitEdit } from './limits.ts'
import { limitWords as words } from './words.ts'

const own = words.quotas

const isOfBytes = ({ name }: Quota): boolean => name === 'stored_bytes' || name === 'folder_bytes'

export const amountOf = (quota: Quota, count: number | null): string => {
  if (count === null) return words.none
  return isOfBytes(quota) ? formatBytes(count) : formatCount(count)
}

const typedOf = (quota: Quota): string => {
  if (quota.source !== 'workspace' || quota.limit === null) return ''
  return isOfBytes(quota) ? mebibytesOf(quota.limit) : String(quota.limit)
}

export const quotaEdit = (quota: Quota): LimitEdit => {
  const { name, allowed, source } = quota
  return {
    name: own.names[name],
    text: own.text[name],
    label: own.label,
    unit: isOfBytes(quota) ? own.unitMiB : '',
    allowed: allowed === null ? words.allowedAll : words.allowed(amountOf(quota, allowed)),
    now: typedOf(quota),
    isOwn: source === 'workspace',
    read: isOfBytes(quota) ? bytesOf : wholeOf,
    wrong: isOfBytes(quota) ? words.wrongSize : words.wrongNumber,
    call: (limit) => ({ method: 'POST', path: `/v1/ext/quotas/${name}`, body: { limit } }),
    save: (limit) =>
      dataOf(api.POST('/v1/ext/quotas/{name}', { params: { path: { name } }, body: { limit } })),
  }
}
