/** The resources of this process that tenants share. */
import type { Config } from '../ground/config/config.ts'
import type { Share } from '../ground/core/fairness/share.ts'
import { createShare } from '../ground/core/fairness/share.ts'
import type { ServerQuotas } from '../tenants/limits/effective-limits.ts'
import type { ProcessUse } from '../tenants/limits/quota-routes.ts'
import type { Quotas } from '../tenants/limits/quotas.ts'

export type Shares = Record<
  | 'turns'
  | 'pauses'
  | 'sandboxes'
  | 'streams'
  | 'messages'
  | 'connections'
  | 'builds'
  | 'fetches'
  | 'conversions'
  | 'matches'
  | 'folders',
  Share
>

/** Requests of `/v1/messages` at once. A request mostly waits for its model. */
const messages = 256
/** Builds of installs at once: each build uses as much of the machine as a sandbox may. */
const builds = 5
/** Fetches of repositories at once. A fetch mostly waits for its server. */
const fetches = 8
/** Threads that convert fetched pages at once: each may use a processor and 256 MiB for some seconds. */
const conversions = 3
/** Processes that match expressions at once: each may use a processor for some seconds. */
const matches = 3

/** Questions at once that read archives of working folders: each may use a processor for some seconds. */
const folders = 3

/** The most that one tenant may hold while the others hold nothing. */
const alone = (total: number, percent: number): number =>
  Math.max(1, Math.floor((total * percent) / 100))

/** The quotas of each workspace, from the settings. */
export const serverQuotas = ({
  files,
  disk,
  shares: { percent, ...totals },
}: Config): ServerQuotas => ({
  stored_bytes: files.workspace,
  sessions_running: alone(totals.turns, percent),
  sandboxes: alone(totals.sandboxes, percent),
  streams: alone(totals.streams, percent),
  messages: alone(messages, percent),
  tunnels: alone(totals.connections, percent),
  folder_bytes: disk.session.bytes,
  folder_files: disk.session.files,
})

export function createShares({ shares: { percent, ...totals } }: Config, quotas: Quotas): Shares {
  const shareOf = (total: number) => createShare({ total, percent })
  const shareWithin = (total: number, name: keyof ProcessUse) =>
    createShare({ total, percent, most: (tenant) => quotas.known(tenant, name) ?? total })
  const within = {
    turns: shareWithin(totals.turns, 'sessions_running'),
    sandboxes: shareWithin(totals.sandboxes, 'sandboxes'),
    streams: shareWithin(totals.streams, 'streams'),
    messages: shareWithin(messages, 'messages'),
    connections: shareWithin(totals.connections, 'tunnels'),
  }
  quotas.onChange(() => {
    for (const share of Object.values(within)) share.serve()
  })
  return {
    ...within,
    pauses: shareOf(totals.turns),
    builds: shareOf(builds),
    fetches: shareOf(fetches),
    conversions: shareOf(conversions),
    matches: shareOf(matches),
    folders: shareOf(folders),
  }
}

export const heldHere = ({
  turns,
  sandboxes,
  streams,
  messages,
  connections,
}: Shares): ProcessUse => ({
  sessions_running: turns,
  sandboxes,
  streams,
  messages,
  tunnels: connections,
})
