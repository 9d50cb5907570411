/** What a browser is told, so that a file of anybody's is never a page of ours. */
export const attachment = (filename: string, mimeType: string): [string, string][] => [
  ['content-type', mimeType],
  ['content-disposition', disposition(filename)],
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "default-src 'none'; sandbox"],
  ['cache-control', 'private'],
]

/** The name twice: for readers of ASCII alone, and exactly. RFC 6266 */
function disposition(filename: string): string {
  const plain = filename.replaceAll(/[^\w !#$&+.^`{}~()@,=-]/g, '_')
  const exact = encodeURIComponent(filename).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}
