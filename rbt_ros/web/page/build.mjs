// Bundle src/ and what it imports into one self-contained HTML file, with the licences of what is inside.
//   node build.mjs OUT.html
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";

const out = process.argv[2];
const script = await build({
  entryPoints: ["src/main.js"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  write: false,
});
const style = await build({ entryPoints: ["src/style.css"], bundle: true, minify: true, write: false });
const notices = await Promise.all(
  ["three", "uplot"].map(async (name) => {
    const { version, license } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const text = await readFile(`node_modules/${name}/LICENSE`, "utf8");
    return `${name} ${version} (${license})\n\n${text.trim()}\n`;
  }),
);
const js = script.outputFiles[0].text.replaceAll("</script", "<\\/script");
const html = (await readFile("src/index.html", "utf8"))
  .replace("/*STYLE*/", () => style.outputFiles[0].text)
  .replace("/*NOTICES*/", () => notices.join("\n\n").replaceAll("--", "- -"))
  .replace("/*SCRIPT*/", () => js);
await writeFile(out, html);
