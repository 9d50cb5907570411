/** What tenants share of this process. */
import type { Config } from '../config.ts'
import type { Share } from '../core/share.ts'
import { createShare } from '../core/share.ts'

export type Shares = Record<'turns' | 'sandboxes' | 'streams' | 'connections', Share>

export function sharesOf({ shares: { percent, ...totals } }: Config): Shares {
  const shareOf = (total: number) => createShare({ total, percent })
  return {
    turns: shareOf(totals.turns),
    sandboxes: shareOf(totals.sandboxes),
    streams: shareOf(totals.streams),
    connections: shareOf(totals.connections),
  }
}
