/** Prints the files of the first commit of a new resource: node scripts/new-resource.ts model-cards */
import { newFiles, touchedFiles, touchedPages } from './house/new-resource.ts'

const [name] = process.argv.slice(2)
if (!name || !/^[a-z]+(-[a-z]+)*s$/.test(name)) {
  console.error('name the folder of the resource, a plural such as model-cards')
  process.exit(1)
}

const show = (title: string, files: readonly { path: string; holds: string }[]) =>
  console.log(`${title}\n${files.map(({ path, holds }) => `  ${path}: ${holds}`).join('\n')}\n`)

show('New files:', newFiles(name))
show('Code to change:', touchedFiles)
show('Pages to change, then node scripts/requirements.ts:', touchedPages)
