// Call the page's module for blind signatures: node blind_rsa.mjs FOLDER NAME VALUES-AS-JSON. Prints JSON.

import { pathToFileURL } from "node:url";
import { called } from "./check_blind_rsa.mjs";

const [folder, name, values] = process.argv.slice(2);
const parts = await Promise.all(["blind_rsa", "rules"].map((part) => import(pathToFileURL(`${folder}/${part}.js`))));
console.log(JSON.stringify(await called(name, JSON.parse(values), Object.assign({}, ...parts))));
