const byExtension = new Map(
  Object.entries({
    'application/json': 'json',
    'application/pdf': 'pdf',
    'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/xml': 'xml',
    'application/zip': 'zip',
    'audio/mpeg': 'mp3',
    'audio/wav': 'wav',
    'image/gif': 'gif',
    'image/jpeg': 'jpg jpeg',
    'image/png': 'png',
    'image/svg+xml': 'svg',
    'image/webp': 'webp',
    'text/css': 'css',
    'text/csv': 'csv',
    'text/html': 'html htm',
    'text/javascript': 'js mjs',
    'text/markdown': 'md',
    'text/plain': 'txt log',
    'text/tab-separated-values': 'tsv',
    'video/mp4': 'mp4',
  }).flatMap(([type, extensions]) => extensions.split(' ').map((each) => [each, type] as const)),
)

export const anyType = 'application/octet-stream'

/** The media type by the extension of the name. */
export const mediaTypeOf = (filename: string): string =>
  byExtension.get(/\.([a-z\d]+)$/i.exec(filename)?.[1]?.toLowerCase() ?? '') ?? anyType
