/** Headers of a download, which keep a browser from showing a caller's file as a page of this service. */
export const attachmentHeaders = (filename: string, mimeType: string): [string, string][] => [
  ['content-type', mimeType],
  ['content-disposition', disposition(filename)],
  ['x-content-type-options', 'nosniff'],
  ['content-security-policy', "default-src 'none'; sandbox"],
  ['cache-control', 'private'],
]

/** Names the file twice: in ASCII for old readers, and exactly. RFC 6266 */
function disposition(filename: string): string {
  const plain = filename.replaceAll(/[^\w !#$&+.^`{}~()@,=-]/g, '_')
  const exact = encodeURIComponent(filename).replaceAll(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}
