import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { linkBetween, movedAddresses, pageOf } from './addresses.ts'
import { readContents } from './contents.ts'
import { llmsText, sectionOf } from './llms.ts'
import { renderMarkdown } from './markdown.ts'

const render = (markdown: string) =>
  renderMarkdown(markdown, {
    linkTo: (path) => (path === 'absent.ts' ? undefined : `to/${path}`),
    darkPicture: (path) => (path === 'a-light.png' ? 'to/a-dark.png' : undefined),
  })
const shown = (markdown: string) => render(markdown).body.text.trim()

describe('a page of Markdown', () => {
  it('shows markup as text, and no comment', () => {
    assert.equal(shown('<script>x</script>\n\n<!-- a\nb -->\n'), '&lt;script&gt;x&lt;/script&gt;')
    assert.equal(
      shown('a <b onclick="x">c</b>'),
      '<p>a &lt;b onclick=&quot;x&quot;&gt;c&lt;/b&gt;</p>',
    )
  })

  it('links to pages with their anchors, and names a file that is not served', () => {
    assert.equal(shown('[a](b.md#c)'), '<p><a href="to/b.md#c">a</a></p>')
    assert.equal(shown('[a](#c)'), '<p><a href="#c">a</a></p>')
    assert.equal(
      shown('[a](https://x.example/?b&c)'),
      '<p><a href="https://x.example/?b&amp;c">a</a></p>',
    )
    const named = '<p><span class="source" title="absent.ts, in the repository">a</span></p>'
    assert.equal(shown('[a](absent.ts)'), named)
  })

  it('links to no script', () => {
    const { body } = renderMarkdown('[a](javascript:x) [b](data:text/html,x)', {
      linkTo: () => undefined,
      darkPicture: () => undefined,
    })
    assert.doesNotMatch(body.text, /href/)
  })

  it('shows the dark picture of a light one in the dark theme', () => {
    assert.match(
      shown('![a "b"](a-light.png)'),
      /^<p><picture><source srcset="to\/a-dark\.png" media="\(prefers-color-scheme: dark\)" \/><img src="to\/a-light\.png" alt="a &quot;b&quot;" loading="lazy" \/><\/picture><\/p>$/,
    )
    assert.doesNotMatch(shown('![a](b.png)'), /picture/)
  })

  it('has an anchor at each heading, and lists the headings', () => {
    const { title, headings, body } = render('# A `b` & c\n\n## Same\n\n## Same\n')
    assert.equal(title, 'A b & c')
    assert.deepEqual(
      headings.map(({ anchor }) => anchor),
      ['a-b--c', 'same', 'same-1'],
    )
    for (const { anchor } of headings) assert.ok(body.text.includes(` id="${anchor}">`))
  })

  it('sets the ids of requirements apart, and no other brackets', () => {
    assert.match(shown('- Yes. [a/b-c]'), /Yes\. <span class="requirement">\[a\/b-c\]<\/span>/)
    assert.doesNotMatch(shown('- `[a/b]` [c]'), /requirement/)
  })
})

describe('an address of the documentation', () => {
  it('has the name of its file, and an index that of its folder', () => {
    assert.deepEqual(['docs/a.md', 'docs/README.md', 'docs/b/README.md', 'README.md'].map(pageOf), [
      'docs/a',
      'docs/',
      'docs/b/',
      'docs/quickstart',
    ])
  })

  it('is linked from any other, below any base path', () => {
    const addresses = ['docs', 'docs/', 'docs/a', 'docs/b/', 'docs/b/c', 'console/', 'README.md']
    for (const from of addresses)
      for (const to of addresses)
        assert.equal(
          new URL(linkBetween(from, to), `http://service/base/${from}`).href,
          `http://service/base/${to}`,
          `${from} to ${to}`,
        )
  })

  it('is not taken from the page of endpoints', () => {
    assert.ok(movedAddresses('docs/README.md').every(([from]) => from !== 'docs'))
  })
})

describe('the table of contents', () => {
  it('has each page once, by headings, with what the index says of it', () => {
    const index =
      '# T\n\n## One\n\n| page | for |\n|---|---|\n| [A](a.md), [a](a.md#b) | x |\n\n## Two\n\n| for | page |\n|---|---|\n| y | [A](a.md), [B](../b.md) |\n'
    assert.deepEqual(readContents('docs/README.md', index), [
      { title: 'One', pages: [{ file: 'docs/a.md', label: 'A', about: 'x' }] },
      { title: 'Two', pages: [{ file: 'b.md', label: 'B', about: 'y' }] },
    ])
  })

  it('is a list for programs, with records last and each page by its URL', () => {
    const pages = [{ file: 'docs/a.md', label: 'A', about: 'x' }]
    const records = [{ title: 'R', pages: [{ file: 'docs/r.md', label: '1', about: 'y' }] }]
    const urlOf = (file: string) => `https://service.example/base/${file}`
    const text = llmsText({ groups: [{ title: 'One', pages }], records, install: '1. Run.', urlOf })
    const lists = [
      '## One\n\n- [A](https://service.example/base/docs/a.md): x\n',
      '## Optional\n\n- [1](https://service.example/base/docs/r.md): y\n',
    ]
    assert.ok(text.endsWith(`\n\n1. Run.\n\n${lists.join('\n')}`))
  })

  it('reads a section until the next one', () => {
    assert.equal(sectionOf('# T\n\n## Steps\n\n1. a\n\n## Next\n\nb\n', 'Steps'), '1. a')
  })
})
