/** What two readers of one request may take for different requests: proxies, and this service. */
import type { IncomingMessage } from 'node:http'
import { invalid } from '../core/errors.ts'

/** A segment `.` or `..`, also where its dots are escaped. */
const dots = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)/i

/** Refuses two `Host` headers, and a path that another reader would normalise into another path. */
export function checkHead({ rawHeaders, url = '' }: IncomingMessage): void {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts++
  if (hosts > 1) throw invalid('Host: was sent twice')
  const end = url.indexOf('?')
  if (dots.test(end < 0 ? url : url.slice(0, end)))
    throw invalid('a path may not hold the segments . and ..')
}
