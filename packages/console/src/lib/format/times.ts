/** Times as people read them: `1.2 s`, `4 m 12 s`, `14 min`, `3 d`; the whole time stands in the title. */
const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const two = (value: number): string => String(value).padStart(2, '0')

/** How long something took. */
export function formatDuration(ms: number): string {
  if (ms < 99.5) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 9_950) return `${(ms / second).toFixed(1)} s`
  const seconds = Math.round(ms / second)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ${two(minutes % 60)} m`
  return `${Math.floor(minutes / (24 * 60))} d ${Math.floor((minutes / 60) % 24)} h`
}

/** How long something took, in one unit: `14 m`. */
export function formatSpan(ms: number): string {
  if (ms < minute) return formatDuration(ms)
  if (ms < hour) return `${Math.round(ms / minute)} m`
  if (ms < day) return `${Math.round(ms / hour)} h`
  return `${Math.round(ms / day)} d`
}

/** How long ago, in one unit. `now` for the last ten seconds and for clocks that differ. */
export function formatAge(ms: number): string {
  if (ms < 10 * second) return 'now'
  if (ms < minute) return `${Math.floor(ms / second)} s`
  if (ms < hour) return `${Math.floor(ms / minute)} min`
  if (ms < day) return `${Math.floor(ms / hour)} h`
  if (ms < 365 * day) return `${Math.floor(ms / day)} d`
  return `${Math.floor(ms / (365 * day))} y`
}

const clockTime = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const localTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

const utcTime = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

/** The time of day where the reader is, or in UTC. */
export const formatClock = (at: Date, isUtc = false): string =>
  isUtc ? `${utcTime.format(at)} UTC` : clockTime.format(at)

/** The whole time where the reader is, and in UTC. */
export const formatWhole = (at: Date): string =>
  `${localTime.format(at)} · ${at
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, '')} UTC`
