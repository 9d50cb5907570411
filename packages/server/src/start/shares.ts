/** What tenants share of this process. */
import type { Config } from '../ground/config/config.ts'
import type { Share } from '../ground/core/share.ts'
import { createShare } from '../ground/core/share.ts'

export type Shares = Record<
  'turns' | 'pauses' | 'sandboxes' | 'streams' | 'connections' | 'builds' | 'fetches',
  Share
>

/** Builds of packages at once: each takes as much of the machine as a sandbox may. */
const builds = 5
/** The same of repositories that are fetched and indexed, which mostly wait for their servers. */
const fetches = 8

export function sharesOf({ shares: { percent, ...totals } }: Config): Shares {
  const shareOf = (total: number) => createShare({ total, percent })
  return {
    turns: shareOf(totals.turns),
    pauses: shareOf(totals.turns),
    sandboxes: shareOf(totals.sandboxes),
    streams: shareOf(totals.streams),
    connections: shareOf(totals.connections),
    builds: shareOf(builds),
    fetches: shareOf(fetches),
  }
}
