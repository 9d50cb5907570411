/** Refuses requests that a proxy and this service may read differently (request smuggling). */
import type { IncomingMessage } from 'node:http'
import { invalid } from '../core/errors.ts'

/** A segment `.` or `..`, also with escaped dots. */
const dots = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)/i

/** Throws for two `Host` headers, and for a path that a proxy could normalise into another path. */
export function checkHead({ rawHeaders, url = '' }: IncomingMessage): void {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts++
  if (hosts > 1) throw invalid('Host: was sent twice')
  const end = url.indexOf('?')
  if (dots.test(end < 0 ? url : url.slice(0, end)))
    throw invalid('a path may not hold the segments . and ..')
}
