// Answers the cases of the conformance suite with classic-level, LevelDB for Node.js.
//
// A line with a case comes in, {"case": NAME, "kind": KIND, "given": {…}}, and a line goes out: {"case": NAME, "answer":
// {…}}, without "answer" where classic-level has no interface for the case.

const fs = require('fs')
const os = require('os')
const path = require('path')
const readline = require('readline')
const { ClassicLevel } = require('classic-level')

async function answer (kind, given) {
  if (kind !== 'database_get' && kind !== 'database_scan') return undefined
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'conformance-'))
  try {
    for (const [name, contents] of Object.entries(given.files)) {
      fs.writeFileSync(path.join(folder, name), Buffer.from(contents, 'hex'))
    }
    const encodings = { keyEncoding: 'buffer', valueEncoding: 'buffer' }
    const database = new ClassicLevel(folder, encodings)
    try {
      await database.open({ createIfMissing: false })
      if (kind === 'database_get') {
        const value = await database.get(Buffer.from(given.key, 'hex'))
        return value === undefined ? { absent: true } : { value: value.toString('hex') }
      }
      const entries = await database.iterator().all()
      return { entries: entries.map(([key, value]) => [key.toString('hex'), value.toString('hex')]) }
    } catch (error) {
      return error.code === 'LEVEL_NOT_FOUND' ? { absent: true } : { error: true }
    } finally {
      await database.close()
    }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

async function main () {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { case: name, kind, given } = JSON.parse(line)
    process.stdout.write(JSON.stringify({ case: name, answer: await answer(kind, given) }) + '\n')
  }
}

main()
