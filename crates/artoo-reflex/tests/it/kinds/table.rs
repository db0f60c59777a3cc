//! Tests of the questions about tables, logs and JSON files.

use std::path::Path;

use super::World;

/// Real programs print the computed answers to questions about CSV tables.
#[test]
fn tables_answer_by_their_headings() {
    let world = World::new();
    for (request, expected) in [
        ("sum of the pay column in staff.csv", "9050.5"),
        ("average pay in staff.csv", "3016.8333"),
        ("what is the highest pay in staff.csv", "3400"),
        ("average pay by town in staff.csv", "3150\tBonn\n2750.5\tUlm"),
        ("how many people per town in staff.csv", "2\tBonn\n1\tUlm"),
        ("rows in staff.csv where town is bonn", "cook;Bonn;2900\nnurse;Bonn;3400"),
        ("how many rows in staff.csv have town equal to Bonn", "2"),
        ("show the role column of staff.csv where pay is more than 2800", "cook\nnurse"),
        ("sort staff.csv by pay, highest first", "nurse;Bonn;3400\ncook;Bonn;2900\nclerk;Ulm;2750.5"),
        ("show the name and price columns of goods.csv", "\"Lamp, small\",19.90\nChair,49.00\n\"a \"\"b\"\"\",5"),
        ("what's the stock of Chair in goods.csv", "0"),
        ("which city in weather.tsv has the lowest temperature", "Oslo"),
        ("list the different towns in staff.csv", "Bonn\nUlm"),
        ("what columns does weather.tsv have?", "city\ntemperature"),
        ("how many columns does goods.csv have", "3"),
        ("total per town in staff.csv", "6300\tBonn\n2750.5\tUlm"),
        ("the two highest pays in staff.csv", "3400\n2900"),
        ("staff from Bonn, I only need the role", "cook\nnurse"),
        ("who has the highest pay, and in which town?", "nurse;Bonn;3400"),
        ("staff.csv: which town has the lowest total pay", "2750.5\tUlm"),
        ("average pay of the Bonn people", "3150"),
        ("the cheapest of the goods", "\"a \"\"b\"\"\",5,7"),
        ("goods cheaper than 20, names only", "Lamp, small\na \"b\""),
        ("coldest city", "Oslo"),
        ("how much does the Chair cost", "49.00"),
        ("top 2 cities by temperature in weather.tsv", "Rome\nParis"),
        ("the cheapest 2 goods", "\"a \"\"b\"\"\",5,7\n\"Lamp, small\",19.90,12"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    for request in [
        "sum of the height column in staff.csv",
        "sum of the town column in staff.csv",
        "average pay by country in staff.csv",
        "show everyone from Paris in staff.csv",
        "sum of the pay column in a.txt",
        "average price in goods.csv and the weather",
        "what's the highest row in staff.csv",
        "is the nurse the coldest in Bonn",
        "average temperature tomorrow",
        "the total",
        "rows in staff.csv with town \"all\"",
        "rows in staff.csv with town \"most\"",
        "are all staff from Bonn",
        "goods and 7",
        // March is not said of which year, and a price and a stock may be meant.
        "bills of march or rent",
        "paid bills",
        "sort staff.csv by town and pay",
        "pay since 2900 in staff.csv",
        // Two columns have the town, and one has the size in two letter cases.
        "who is in bonn, see moves.csv",
        "moves with size big in moves.csv",
    ] {
        assert_eq!(world.steps(request), None, "{request}");
    }
}

/// Real programs print the computed answers to questions about dates, texts in order, bounds and equal ranks in tables.
#[test]
fn tables_compare_dates_texts_and_ranks() {
    let world = World::new();
    for (request, expected) in [
        ("sort staff.csv by town", "cook;Bonn;2900\nnurse;Bonn;3400\nclerk;Ulm;2750.5"),
        ("staff from Bonn and Ulm", "cook;Bonn;2900\nclerk;Ulm;2750.5\nnurse;Bonn;3400"),
        ("which town has the most people in staff.csv", "2\tBonn"),
        // Both have two rows.
        ("most common kind in bills.csv", "2\tfood\n2\trent"),
        ("goods with a price of at least 5", "\"Lamp, small\",19.90,12\nChair,49.00,0\n\"a \"\"b\"\"\",5,7"),
        ("goods between 5 and 20, see goods.csv", "\"Lamp, small\",19.90,12\n\"a \"\"b\"\"\",5,7"),
        ("staff with a pay of 2900 or more", "cook;Bonn;2900\nnurse;Bonn;3400"),
        ("price of the small lamp", "19.90"),
        ("bills of march 2024", "2024-03-05,food,4\n2024-03-20,food,6"),
        ("total amount of the bills in 2024", "101"),
        ("bills from march 2024 on", "2024-03-05,food,4\n2024-03-20,food,6\n2024-05-01,rent,91"),
        ("who has the lowest pay and not in Bonn", "clerk;Ulm;2750.5"),
        ("bills that are not rent", "2024-03-05,food,4\n2024-03-20,food,6"),
        ("total amount of the bills except food", "181"),
        ("which kind has the most amount in bills.csv", "181\trent"),
        ("bills after 2024-03-05", "2024-03-20,food,6\n2024-05-01,rent,91"),
        (
            "sort bills.csv by day, newest first",
            "2024-05-01,rent,91\n2024-03-20,food,6\n2024-03-05,food,4\n2023-12-31,rent,90",
        ),
        (
            "save the rows of bills.csv from 2024 to new.csv",
            "day,kind,amount\n2024-03-05,food,4\n2024-03-20,food,6\n2024-05-01,rent,91",
        ),
        ("spending per kind in bills.csv", "181\trent\n10\tfood"),
        ("total amount per month in bills.csv", "91\t2024-05\n90\t2023-12\n10\t2024-03"),
        ("number of bills per year", "3\t2024\n1\t2023"),
        ("staff.csv, number of rows per town", "2\tBonn\n1\tUlm"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
}

/// Real programs print the computed answers to questions about logs whose lines have a known form.
#[test]
fn logs_answer_by_their_fields() {
    let world = World::new();
    let second = "10.0.0.2 - - [12/Mar/2024:10:00:02 +0000] \"GET /b.html HTTP/1.1\" 404 9 \"-\" \"curl/8\"";
    for (request, expected) in [
        ("requests with status 404 in web.log", second),
        ("how many requests per status code in web.log", "2\t200\n1\t404"),
        ("hits per ip in web.log", "2\t10.0.0.2\n1\t10.0.0.1"),
        ("which page was requested most often, see web.log", "2\t/a.html"),
        ("total bytes per page in web.log", "434\t/a.html\n9\t/b.html"),
        (
            "errors and warnings of 6 march in run.log",
            "2024-03-06 08:00:02 ERROR disk full\n2024-03-06 08:00:03 WARNING disk",
        ),
        ("how many entries per level in run.log", "1\tINFO\n1\tERROR\n1\tWARNING"),
        ("count the warnings since 2024-03-06 in run.log", "1"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    // A line of another form could be one that is asked for.
    for request in ["how many entries per level in mixed.log", "404 or 9 in web.log"] {
        assert_eq!(world.steps(request), None, "{request}");
    }
}

/// Real programs print the computed answers to questions about JSON files.
#[test]
fn json_answers_by_its_keys() {
    let world = World::new();
    if !Path::new("/usr/bin/jq").exists() {
        return;
    }
    for (request, expected) in [
        ("value of port in config.json", "80"),
        ("get db.host from config.json", "h"),
        ("list the tags in config.json", "b\na"),
        ("which keys does config.json have", "port\ndb\ntags"),
        ("total per city in orders.json", "120\tOslo\n7.5\tRome"),
        ("how many orders are in orders.json", "2"),
    ] {
        assert_eq!(world.printed(request).trim_end(), expected, "{request}");
    }
    for request in ["value of colour in config.json", "value of db in config.json", "how many pears are in orders.json"]
    {
        assert_eq!(world.steps(request), None, "{request}");
    }
}
