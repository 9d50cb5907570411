/** What a page of the console is asked while it is measured. The scripts run in the browser. */
import type { Page } from 'playwright-core'

/** Resolves with the time of the first frame after which `isThere` was painted; the origin is the navigation. */
export const paintedWhen = (page: Page, isThere: string): Promise<number> =>
  page.evaluate<number>(
    `new Promise((resolve, reject) => {
      const end = performance.now() + 30000
      const look = () => {
        if (${isThere}) return requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
        if (performance.now() > end) return reject(new Error('it is not in the page'))
        requestAnimationFrame(look)
      }
      look()
    })`,
  )

export const firstPaint = (page: Page): Promise<number> =>
  page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`)

/** Bytes of script as they came over the wire. */
export const scriptBytes = (page: Page): Promise<number> =>
  page.evaluate<number>(
    `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  )

/** Milliseconds from a click on what `link` finds until `isThere` was painted. */
export const clickUntil = (page: Page, link: string, isThere: string): Promise<number> =>
  page.evaluate<number>(
    `new Promise((resolve, reject) => {
      const began = performance.now()
      const look = () => {
        if (${isThere}) return requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)))
        if (performance.now() - began > 30000) return reject(new Error('it is not in the page'))
        requestAnimationFrame(look)
      }
      document.querySelector(${JSON.stringify(link)}).click()
      look()
    })`,
  )

export type Frames = { longest: number; late: number; count: number }

/** Frames that come more than this after the one before are counted as late. */
const lateMs = 50

/** Counts frames from now on; the result of the second call ends it. */
export async function watchFrames(page: Page): Promise<() => Promise<Frames>> {
  await page.evaluate(
    `window.frames_ = { longest: 0, late: 0, count: 0 }
    let before = performance.now()
    const frame = (now) => {
      const seen = window.frames_
      if (!seen) return
      seen.count++
      seen.longest = Math.max(seen.longest, now - before)
      if (now - before > ${lateMs}) seen.late++
      before = now
      requestAnimationFrame(frame)
    }
    requestAnimationFrame((now) => { before = now; requestAnimationFrame(frame) })`,
  )
  return () =>
    page.evaluate<Frames>(
      `(() => { const seen = window.frames_; window.frames_ = undefined; return seen })()`,
    )
}

/**
 * Scrolls the list of events by `pixels` a frame from its end to its beginning, and counts the frames in which a place
 * of the list shows no event.
 */
export const scrollEvents = (
  page: Page,
  pixels: number,
): Promise<{ frames: number; gaps: number }> =>
  page.evaluate(
    `new Promise((resolve) => {
      let list = document.querySelector('button[data-event]')
      while (list.scrollHeight <= list.clientHeight + 1 || getComputedStyle(list).overflowY === 'visible') list = list.parentElement
      list.scrollTop = list.scrollHeight
      const { left, top, width, height } = list.getBoundingClientRect()
      const seen = { frames: 0, gaps: 0 }
      const isRow = (share) =>
        document.elementFromPoint(left + width / 2, top + 30 + (height - 60) * share)?.closest('[data-event]')
      const frame = () => {
        if (list.scrollTop <= 0) return resolve(seen)
        // What was painted for the step before is looked at here, before the next step.
        seen.frames++
        if (![0, 0.25, 0.5, 0.75, 1].every(isRow)) seen.gaps++
        list.scrollTop -= ${pixels}
        requestAnimationFrame(frame)
      }
      requestAnimationFrame(() => requestAnimationFrame(frame))
    })`,
  )

/** What the page holds after a collection: the heap of its scripts, in bytes, and the nodes of its document. */
export async function memoryOf(page: Page): Promise<{ heap: number; nodes: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes } = await session.send('Memory.getDOMCounters')
  await session.detach()
  return { heap: usedSize, nodes }
}
