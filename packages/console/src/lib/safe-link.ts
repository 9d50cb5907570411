/** The address of a link that an agent wrote, or undefined for one that a page must not follow. */
export function safeLink(href: string | undefined): URL | undefined {
  if (href === undefined || !/^https?:\/\//i.test(href) || !URL.canParse(href)) return undefined
  const url = new URL(href)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined
}
