/** Anchors of headings, as hosts of repositories give them. */

/** Creates the function that names the headings of one page. A heading that stands twice gets a number. */
export function createAnchors(): (heading: string) => string {
  const given = new Set<string>()
  return (heading) => {
    const slug = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    let anchor = slug
    for (let count = 1; given.has(anchor); count++) anchor = `${slug}-${count}`
    given.add(anchor)
    return anchor
  }
}
